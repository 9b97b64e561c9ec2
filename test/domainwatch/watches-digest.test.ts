import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, afterEach, test } from 'node:test'
import { ChatReceiver, checkTelegram } from '../support/chat-receiver.ts'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock, startService } from '../support/service.ts'
import { onWatch, removeWatch, watch, getWatches, watchUntil } from '../support/watches.ts'
import { changesIn, WebhookReceiver } from '../support/webhook-receiver.ts'

const TOKEN = '1:x'
const DAY = 24 * 60 * 60 * 1000

/** Names and what happened to them, of each message. */
const toLines = ({ received }: ChatReceiver) =>
  received.map(({ body }) =>
    [...String(body['text']).matchAll(/^• <code>(.+)\.cl<\/code>: (.+) · agente/gm)].map(
      ([, name, what]) => `${name} ${what}`,
    ),
  )

/** Resolves once a webhook has received this many changes: then, also on PostgreSQL, a digest contains them. */
const delivered = ({ received }: WebhookReceiver, count: number) =>
  eventually(
    async () => received.reduce((sum, { body }) => sum + Number(Object(body.data).count), 0) === count,
  )

const clock = new ManualClock('2026-04-04T15:00:00Z')
const telegram = await ChatReceiver.start(checkTelegram(TOKEN))
const flags = { 'telegram-token': `${telegram.url}/bot${TOKEN}`, 'webhook-networks': '127.0.0.0/8' }
const service = await startService({ clock, flags })
after(async () => {
  await service[Symbol.asyncDispose]()
  telegram[Symbol.dispose]()
})
afterEach(async () => {
  for (const { id } of await getWatches(service)) await removeWatch(service, String(id))
})
const begin = (at: string) => clock.advance(Date.parse(at) - clock.now())

test('a digest is one message per day at its hour, also at clock changes, and none without changes', async () => {
  // On 4 April 2026 at 24:00 (03:00 UTC), the clocks go back to 23:00.
  using webhook = await WebhookReceiver.start()
  const arrived = (count: number) => eventually(async () => telegram.received.length === count)
  const scheduled = (at: string) =>
    watchUntil(service, id, ({ next_digest, last_error }) => next_digest === at && last_error === null)
  let changes = 0
  const store = async (...records: Parameters<typeof stored>[1]) => {
    await stored(service, records)
    changes += records.length
    await delivered(webhook, changes)
  }
  await watch(service, { starts: 'dia', changes: 'all', url: webhook.url })
  const { id } = await watch(service, { starts: 'dia', changes: 'all', digest: '23:30', to: 'telegram:1' })
  await scheduled('2026-04-05T02:30:00.000Z')
  await store(record('dia1'), record('dia2'))
  await store(record('dia1', { status: 0 }))
  clock.advance(Date.parse('2026-04-05T02:29:59Z') - clock.now())
  await store(record('dia3'))
  assert.equal(telegram.received.length, 0)
  clock.advance(1_000)
  await arrived(1)
  await scheduled('2026-04-06T03:30:00.000Z')
  assert.deepEqual(toLines(telegram), [['dia1 nuevo, eliminado', 'dia2 nuevo', 'dia3 nuevo']])
  assert.match(String(telegram.received[0]?.body['text']), /^<b>prueba: 3 nombres<\/b>/)

  // It is 23:30 again on the same day; then the next day.
  await store(record('dia4'))
  clock.advance(60 * 60 * 1000)
  await store(record('dia5'))
  clock.advance(DAY)
  await arrived(2)
  await scheduled('2026-04-07T03:30:00.000Z')
  assert.deepEqual(toLines(telegram)[1], ['dia4 nuevo', 'dia5 nuevo'])

  // A day without news.
  clock.advance(DAY)
  await scheduled('2026-04-08T03:30:00.000Z')
  await store(record('dia6'))
  clock.advance(DAY)
  await arrived(3)
  await scheduled('2026-04-09T03:30:00.000Z')
  assert.deepEqual(toLines(telegram)[2], ['dia6 nuevo'])

  // A digest that fails is retried, and news of later days waits for the next one.
  telegram.answer = () => ({ code: 500, body: '{}' })
  await store(record('dia7'))
  clock.advance(DAY)
  await watchUntil(service, id, ({ attempts }) => attempts === 1)
  await store(record('dia8'))
  telegram.answer = undefined
  clock.advance(60 * 60 * 1000)
  await scheduled('2026-04-10T03:30:00.000Z')
  assert.deepEqual(toLines(telegram).at(-1), ['dia7 nuevo'])
  const count = telegram.received.length
  clock.advance(DAY)
  await arrived(count + 1)
  assert.deepEqual(toLines(telegram).at(-1), ['dia8 nuevo'])
})

test('a webhook leaves nothing out: a long digest comes in several, and the next one on the next day', async () => {
  using digest = await WebhookReceiver.start()
  using webhook = await WebhookReceiver.start()
  begin('2026-06-01T15:00:00Z')
  const { id } = await watch(service, { starts: 'parte', digest: '09:00', url: digest.url })
  const scheduled = (at: string) => watchUntil(service, id, ({ next_digest }) => next_digest === at)
  await scheduled('2026-06-02T13:00:00.000Z')
  await watch(service, { starts: 'parte', url: webhook.url })
  await stored(
    service,
    Array.from({ length: 120 }, (_, i) => record(`parte${i}`)),
  )
  await delivered(webhook, 120)
  assert.equal(digest.received.length, 0)
  clock.advance(DAY)
  await digest.until(3)
  await scheduled('2026-06-03T13:00:00.000Z')
  assert.deepEqual(
    digest.received.map((one) => changesIn(one).length),
    [50, 50, 20],
  )
  assert.equal(new Set(digest.changes).size, 120)
})

test('the hour of a digest that passes during a pause is not made up for', async () => {
  begin('2026-06-11T15:00:00Z')
  const owner = await service.newKey('otra', 'domainwatch')
  const { id } = await watch(service, { digest: '09:00', to: 'telegram:1', shared: 1 }, owner.key)
  await watchUntil(service, id, ({ next_digest }) => next_digest === '2026-06-12T13:00:00.000Z')
  // Nobody else schedules digests meanwhile, so that the answer shows what the edit did.
  await service.revokeKey(owner.id)
  await onWatch(service, 'update', { id, paused: 1 })
  await service.sql(`UPDATE watch_destinations SET next_at = ${clock.now() - DAY}`)
  await onWatch(service, 'update', { id, paused: 0 })
  const [shown] = await getWatches(service)
  assert.deepEqual([shown?.['paused'], shown?.['next_digest']], [0, null])
  await service.newKey('otra', 'domainwatch')
  await watchUntil(service, id, ({ next_digest }) => next_digest === '2026-06-12T13:00:00.000Z')
})

test('changes removed while a digest is read are reported after it, and later ones in the next digest', async () => {
  using digest = await WebhookReceiver.start()
  using webhook = await WebhookReceiver.start()
  begin('2026-06-21T15:00:00Z')
  const { id } = await watch(service, { starts: 'corte', digest: '09:00', url: digest.url })
  const scheduled = (at: string) => watchUntil(service, id, ({ next_digest }) => next_digest === at)
  await scheduled('2026-06-22T13:00:00.000Z')
  await watch(service, { starts: 'corte', url: webhook.url })
  await stored(service, [record('corte1')])
  await delivered(webhook, 1)
  const held = Promise.withResolvers<ServerResponse>()
  digest.answer = (response) => held.resolve(response)
  clock.advance(DAY)
  const response = await held.promise
  // Raised before the change, so that no reader has it in memory.
  await service.sql('UPDATE change_log SET floor = (SELECT max(id) FROM changes) + 1')
  await stored(service, [record('corte2')])
  digest.answer = (next) => void next.writeHead(204).end()
  response.writeHead(204).end()
  await digest.until(2)
  await scheduled('2026-06-23T13:00:00.000Z')
  // The webhook meets the gap too, and continues after whatever is stored by then.
  await eventually(async () => webhook.received.some(({ body }) => body.type === 'domains.gap'))
  await stored(service, [record('corte3')])
  await eventually(() => webhook.changes.includes('added corte3'))
  clock.advance(DAY)
  await digest.until(3)
  assert.deepEqual(
    digest.received.map((one) => [one.body.type, changesIn(one).at(-1)]),
    [
      ['domains.changed', 'added corte1'],
      ['domains.gap', undefined],
      ['domains.changed', 'added corte3'],
    ],
  )
})

test('a digest at an hour skipped in spring is sent after it, and a restart loses nothing', async () => {
  using webhook = await WebhookReceiver.start()
  const before = telegram.received.length
  // On 5 September 2026 at 24:00 (04:00 UTC), the clocks go forward to 01:00.
  begin('2026-09-05T15:00:00Z')
  await using first = await startService({ clock, flags })
  // It is started again, which nodes behind a balancer cannot be.
  assert.ok(first.app)
  const { id } = await watch(first, { starts: 'salto', digest: '00:30', to: 'telegram:1' })
  await watchUntil(first, id, ({ next_digest }) => next_digest === '2026-09-06T04:30:00.000Z')
  await watch(first, { starts: 'salto', url: webhook.url })
  await stored(first, [record('salto1')])
  await delivered(webhook, 1)
  const { domainKey } = first
  await first.stop()
  const again = await startService({
    clock,
    data: first.data,
    flags: { ...flags, 'database-url': first.databaseUrl },
  })
  try {
    await stored({ ...again, domainKey }, [record('salto2')])
    await delivered(webhook, 2)
    clock.advance(Date.parse('2026-09-06T04:29:59Z') - clock.now())
    assert.equal(telegram.received.length, before)
    clock.advance(1_000)
    await eventually(async () => telegram.received.length === before + 1)
    assert.deepEqual(toLines(telegram).at(-1), ['salto1 nuevo', 'salto2 nuevo'])
  } finally {
    await again.stop()
  }
})
