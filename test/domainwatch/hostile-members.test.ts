/** A member who does everything that costs others time, and chat services that answer with what they should not. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { record, stored, storedNames } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { feedsFile, feedStates, startWithFeeds } from '../support/feeds.ts'
import { temporaryFolder } from '../support/folder.ts'
import { listen } from '../support/listen.ts'
import { claim, release } from '../support/queue.ts'
import { ManualClock, startService } from '../support/service.ts'
import { deliveriesOf, onWatch, watch, watchUntil } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const NETWORKS = { 'webhook-networks': '127.0.0.0/8' }
const YEAR_S = 365 * 24 * 60 * 60
const DAY_MS = 24 * 60 * 60_000

/** A server on every loopback address. */
async function startServer(answer: (path: string, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume()
    answer(request.url ?? '', response)
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  const port = await listen(server, '0.0.0.0')
  return (host = 1) => `http://127.0.0.${host}:${port}`
}

test('hostile responses of a chat service are limited to a day, 64 KiB and no redirect', async () => {
  const endless = (response: ServerResponse) => {
    const chunk = 'x'.repeat(65_536)
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', more)
    more()
  }
  const requests: string[] = []
  const at = await startServer((path, response) => {
    requests.push(path)
    const wait = { 'retry-after': String(YEAR_S) }
    if (path.startsWith('/year')) response.writeHead(429, wait).end()
    else if (path.startsWith('/body'))
      response.writeHead(429, wait).end(JSON.stringify({ message: 'x'.repeat(10_000) }))
    else if (path.startsWith('/endless')) endless(response.writeHead(500))
    else response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end()
  })
  const clock = new ManualClock('2026-03-01T12:00:00Z')
  await using service = await startService({ clock, flags: NETWORKS })
  const to = [
    `slack:${at(2)}/year`,
    `discord:${at(3)}/body`,
    `ntfy:${at(4)}/endless/tema`,
    `discord:${at(5)}/endless`,
    `slack:${at(6)}/otra`,
  ]
  const { id } = await watch(service, { starts: 'malo', to: to.join(',') })
  await stored(service, [record('malo')])
  const shown = await watchUntil(service, id, ({ destinations }) =>
    Object(destinations).every((one: { last_error: string | null }) => one.last_error !== null),
  )
  const states: Record<string, unknown>[] = Object(shown['destinations'])
  assert.deepEqual(
    states.map(({ last_error: error }) => error),
    [
      'Slack respondió 429',
      `Discord respondió 429: ${'x'.repeat(199)}…`,
      'ntfy respondió 500',
      'Discord respondió 500',
      'Slack respondió 307',
    ],
  )
  const waits = states.map(({ next_attempt }) => Date.parse(String(next_attempt)) - clock.now())
  assert.deepEqual(waits.slice(0, 2), [DAY_MS, DAY_MS])
  assert.ok(waits.slice(2).every((wait) => wait >= 5_000 && wait <= 6_000))
  assert.equal(requests.length, 5)
})

test('an account that floods deliveries, replays, edits and claims delays no other', async () => {
  /** Requests that nobody answers any more. */
  let held = 0
  let isSilent = false
  const silent = await startServer((_path, response) => {
    if (isSilent) held++
    else response.writeHead(204).end()
  })
  const list = await startServer((_path, response) => void response.writeHead(200).end('fuente.cl\n'))
  using receiver = await WebhookReceiver.start()
  await using folder = await temporaryFolder()
  const feeds = await feedsFile(folder.path, [
    { name: 'fuente', url: `${list()}/`, format: 'deletions', every: '5m', account: 'grupo' },
  ])
  const clock = new ManualClock('2026-03-01T12:00:00Z')
  await using service = await startWithFeeds({ clock, flags: { ...NETWORKS, feeds } })
  const hostile = { url: service.url, domainKey: (await service.newKey('hostil', 'domainwatch')).key }
  const names = Array.from({ length: 300 }, (_, i) => `n${i}`)
  await storedNames(service, names, { status: 0, date_reg: '2026-01-10 10:00:00' })

  // 20 watches with 40 destinations, and deliveries that can be sent again.
  const ids: string[] = []
  for (let i = 0; i < 20; i++) {
    const to = `slack:${silent(2 + 2 * i)}/a`
    ids.push((await watch(hostile, { starts: 'cebo', url: `${silent(3 + 2 * i)}/b`, to })).id)
  }
  await stored(service, [record('cebo1')])
  const delivered = async (id: string): Promise<readonly string[]> => {
    const { body } = await deliveriesOf(hostile, { id })
    const done = Object(body).data.filter(({ state }: { state: string }) => state === 'delivered')
    return done.map((one: { id: string }) => one.id)
  }
  const [first = ''] = ids
  await eventually(async () => (await delivered(first)).length === 2, 'deliveries to send again')
  isSilent = true
  await stored(service, [record('cebo2')])
  await eventually(() => held >= 16, 'every place of the account is taken')

  let isOver = false
  let edits = 0
  let replays = 0
  let claims = 0
  const again = async (work: () => Promise<unknown>) => {
    while (!isOver) await work()
  }
  const [delivery = ''] = await delivered(first)
  const attack = [
    again(async () => {
      await onWatch(hostile, 'replay', { id: first, delivery })
      replays++
    }),
    again(async () => {
      const { status, text } = await onWatch(hostile, 'update', {
        id: ids[edits % ids.length],
        name: `${edits}`,
      })
      assert.equal(status, 200, text)
      edits++
    }),
    again(async () => {
      for (let i = 0; i < 10; i++) await claim(service, hostile.domainKey, { limit: 100 })
      assert.equal((await release(service, hostile.domainKey)).status, 200)
      claims++
    }),
  ]
  try {
    await eventually(() => edits > 5 && replays > 5 && claims > 1, 'the attack is under way')
    await watch(service, { starts: 'propio', url: receiver.url })
    for (let i = 0; i < 2; i++) {
      clock.advance(5 * 60_000)
      await stored(service, [record(`propio${i}`)])
      await receiver.until(i + 1)
      await release(service, service.domainKey)
      await claim(service, service.domainKey, { limit: 1 })
      const time = new Date(clock.now() - 3 * 60 * 60_000).toISOString().slice(0, 19).replace('T', ' ')
      await eventually(async () => (await feedStates(service))[0]?.last_success === time, `a feed at ${time}`)
    }
  } finally {
    isOver = true
    await Promise.all(attack)
  }
})
