import assert from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { feedsFile, feedStates, type FeedState } from '../support/feeds.ts'
import { listen } from '../support/listen.ts'
import { startService, type TestService } from '../support/service.ts'
import { prepareInstance } from './instance.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const EVERY_MS = 5 * 60_000
const LINES = 30_000

/** A list with a version, for which every request is counted. */
const requests: IncomingHttpHeaders[] = []
let respond: (response: ServerResponse) => void = () => {}
const list = Array.from({ length: LINES }, (_, i) => `n${(i * 7_919) % LINES}.cl\n`).join('')
const sendList = (text: string) => (response: ServerResponse) =>
  void response.writeHead(200, { etag: '"uno"', 'content-length': text.length }).end(text)
const lists = createServer((request, response) => {
  requests.push(request.headers)
  if (request.headers['if-none-match'] === '"uno"') response.writeHead(304).end()
  else respond(response)
})
const url = `http://127.0.0.1:${await listen(lists)}/lista.txt`
after(() => {
  lists.close()
  lists.closeAllConnections()
})

/** An instance that fetches the list, without a running node. */
async function prepare(one: TestService) {
  await one.stop()
  const feeds = await feedsFile(await mkdtemp(join(one.data, 'feeds-')), [
    { name: 'lista', url, format: 'deletions', every: '5m', account: 'grupo' },
  ])
  return prepareInstance(one, { feeds, 'webhook-networks': '127.0.0.0/8' }, NOON)
}

/** Resolves to the state of the feed once it is as wanted. */
async function until(node: TestService, what: string, isSo: (state: FeedState) => boolean) {
  let state: FeedState | undefined
  await eventually(async () => {
    ;[state] = await feedStates(node)
    return state !== undefined && isSo(state)
  }, what)
  return state
}

suite('feeds on several nodes', () => {
  test('one of two nodes fetches, and another continues the schedule when that one is killed', async () => {
    requests.length = 0
    respond = sendList('uno.cl\ndos.cl\n')
    await using one = await startService()
    await using instance = await prepare(one)
    const first = await instance.start()
    const second = await instance.start()
    await until(second, 'a success', ({ last_success }) => last_success === '2026-03-01 09:00:00')
    assert.equal(requests.length, 1)
    await instance.setClock(NOON + EVERY_MS)
    await until(first, 'another success', ({ last_success }) => last_success === '2026-03-01 09:05:00')
    assert.deepEqual(
      requests.map((headers) => headers['if-none-match']),
      [undefined, '"uno"'],
    )
    await first.kill()
    await instance.endLeases()
    await instance.setClock(NOON + 2 * EVERY_MS)
    await until(second, 'a third success', ({ last_success }) => last_success === '2026-03-01 09:10:00')
    assert.equal(requests.length, 3)
  })

  test('killed in the middle of a download and of an import, the list is imported once', async () => {
    requests.length = 0
    // Half of the list, and no end.
    respond = (response) => void response.writeHead(200).write(list.slice(0, list.length / 2))
    await using one = await startService()
    await using instance = await prepare(one)
    let node = await instance.start()
    await eventually(() => requests.length === 1, 'a download')
    await node.kill()
    await instance.endLeases()
    assert.deepEqual(await instance.changes(), [0, 0, 0])

    respond = sendList(list)
    node = await instance.start()
    const during = await until(node, 'a part of the import', ({ last_change }) => last_change !== null)
    await node.kill()
    await instance.endLeases()
    assert.equal(during?.last_success, null, 'it was killed before the end')
    const [stored = 0] = await instance.changes()
    assert.ok(stored > 0 && stored < LINES, `${stored} names`)

    node = await instance.start()
    const after = await until(node, 'the end', ({ last_success }) => last_success !== null)
    assert.deepEqual(await instance.changes(), [LINES, LINES, 1])
    const time = '2026-03-01 09:00:00'
    assert.deepEqual(after, {
      ...during,
      last_attempt: time,
      last_success: time,
      last_change: time,
      complete: 1,
      last_complete: time,
      read: LINES,
      changed: LINES - stored,
      refused: 0,
      error: null,
      stale: 0,
    })
    assert.equal(requests.length, 3)
  })
})
