import assert from 'node:assert/strict'
import { test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { ManualClock, startService } from '../support/service.ts'
import { createWatch, onWatch, watch, getWatches } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR
const flags = { 'webhook-networks': '127.0.0.0/8', 'time-zone': 'UTC' }
/** The log of changes has times of its own, so the test begins now. */
const START = `${new Date().toISOString().slice(0, 19)}Z`

const local = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ')
const registered = (name: string, time: number) => record(name, { date_reg: local(time) })

const until = async (receiver: WebhookReceiver, expected: readonly string[]) =>
  assert.deepEqual(await receiver.untilChanges(expected.length), expected)

test('each name is reported on arrival and once at its reminder, across a restart, and nothing after', async () => {
  using late = await WebhookReceiver.start()
  using early = await WebhookReceiver.start()
  using never = await WebhookReceiver.start()
  const clock = new ManualClock(START)
  const start = clock.now()
  await using first = await startService({ clock, flags })
  // It is started again, which nodes behind a balancer cannot be.
  assert.ok(first.app)
  await watch(first, { ends: 'banco', remind: 5, url: late.url })
  await watch(first, { ends: 'banco', remind: 10, objection: 1, changes: 'dns', url: early.url })
  await watch(first, { ends: 'banco', url: never.url })
  await stored(first, [registered('mibanco', start), registered('otro', start)])
  await until(late, ['added mibanco'])
  // The arrival of a name that is recorded after the time of its reminder is enough.
  await stored(first, [registered('subanco', start - 26 * DAY), registered('elbanco', start + DAY)])
  await until(late, ['added mibanco', 'added elbanco', 'added subanco'])
  clock.advance(20 * DAY)
  await until(early, ['reminder mibanco'])
  clock.advance(5 * DAY - 1_000)
  await until(early, ['reminder mibanco', 'reminder elbanco'])
  assert.equal(late.changes.length, 3)
  const { domainKey } = first
  await first.stop()

  clock.advance(1_000)
  const again = await startService({
    clock,
    data: first.data,
    flags: { ...flags, 'database-url': first.databaseUrl },
  })
  try {
    const arrivals = ['added mibanco', 'added elbanco', 'added subanco']
    await until(late, [...arrivals, 'reminder mibanco'])
    const [change] = Object(late.received.at(-1)?.body.data).changes
    assert.equal(change.object_until, local(start + 30 * DAY))
    assert.deepEqual([change.before, change.account], [null, null])
    clock.advance(DAY)
    await until(late, [...arrivals, 'reminder mibanco', 'reminder elbanco'])
    clock.advance(5 * DAY)
    // The reminder of one that was registered later shows that the others were looked for again.
    await stored({ ...again, domainKey }, [registered('tubanco', clock.now())])
    clock.advance(25 * DAY)
    const all = [...arrivals, 'reminder mibanco', 'reminder elbanco', 'added tubanco', 'reminder tubanco']
    await until(late, all)
    await until(early, ['reminder mibanco', 'reminder elbanco', 'reminder tubanco'])
    await until(never, ['added mibanco', 'added elbanco', 'added subanco', 'added tubanco'])
  } finally {
    await again.stop()
  }
})

test('a reminder can be changed and ended, is kept by other edits, and begins with what it is asked for', async () => {
  using receiver = await WebhookReceiver.start()
  const clock = new ManualClock(START)
  const start = clock.now()
  await using service = await startService({ clock, flags })
  await stored(service, [registered('antes', start - 10 * DAY), registered('pronto', start)])
  for (const remind of ['30', '-1', 'x']) {
    const { status, text } = await createWatch(service, { name: 'x', remind, url: receiver.url })
    assert.deepEqual([status, JSON.parse(text).parameter], [400, 'remind'])
  }
  const { id } = await watch(service, { min_length: 2, remind: 3, url: receiver.url })
  await onWatch(service, 'update', { id, max_length: 9 })
  const filters = async () => (await getWatches(service))[0]?.['filters']
  assert.deepEqual(await filters(), { max_length: '9', remind: '3' })
  await onWatch(service, 'update', { id, remind: 20 })
  // Its time was now, not later.
  clock.advance(10 * DAY)
  await until(receiver, ['reminder pronto'])
  await onWatch(service, 'update', { id, remind: 0, dns: 1 })
  assert.deepEqual(await filters(), { max_length: '9', dns: '1', remind: '0' })
  await onWatch(service, 'update', { id, remind: 1 })
  clock.advance(9.5 * DAY)
  await until(receiver, ['reminder pronto', 'reminder antes'])
  clock.advance(9.5 * DAY)
  await until(receiver, ['reminder pronto', 'reminder antes', 'reminder pronto'])
})
