import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { startService } from '../support/service.ts'
import { deliveriesUntil, watch, watchUntil } from '../support/watches.ts'
import { WebhookReceiver, type Received } from '../support/webhook-receiver.ts'
import { prepareInstance } from './instance.ts'

/** 09:00 in the time zone of the service. */
const MORNING = Date.parse('2026-03-01T12:00:00Z')
const HOUR_MS = 60 * 60_000

const namesIn = ({ body }: Received) =>
  Object(body.data).changes.map((change: { record: { name: string } }) => change.record.name)

suite('digests on several nodes', () => {
  test('one node sends the digest of a day once, also if the one that sends it is killed', async () => {
    using receiver = await WebhookReceiver.start()
    await using one = await startService()
    await one.stop()
    await using instance = await prepareInstance(one, { 'webhook-networks': '127.0.0.0/8' }, MORNING)
    const planned = ({ next_digest }: Record<string, unknown>) => next_digest !== null
    const first = await instance.start()
    const { id } = await watch(first, { starts: 'dia', digest: '10:00', url: receiver.url })
    // It is the one that delivers.
    await watchUntil(first, id, planned)
    const other = await instance.start()
    await stored(first, [record('dia1')])
    await stored(other, [record('dia2')])
    assert.equal(receiver.received.length, 0)

    // The receiver takes it, and the sender never hears of it.
    receiver.answer = () => {}
    await instance.setClock(MORNING + HOUR_MS)
    await receiver.until(1)
    await first.kill()
    await instance.endLeases()
    receiver.answer = (response) => void response.writeHead(204).end()
    await receiver.until(2)
    await deliveriesUntil(other, id, ([newest]) => newest?.['state'] === 'delivered')
    assert.equal(new Set(receiver.received.map((each) => `${each.id} ${each.text}`)).size, 1)
    assert.deepEqual(receiver.received[0] && namesIn(receiver.received[0]), ['dia1', 'dia2'])

    await stored(other, [record('dia3')])
    await watchUntil(other, id, planned)
    await instance.setClock(MORNING + 25 * HOUR_MS)
    await receiver.until(3)
    await deliveriesUntil(other, id, (all) => all.length === 2 && all[0]?.['state'] === 'delivered')
    assert.deepEqual(receiver.received.slice(2).map(namesIn), [['dia3']])
  })
})
