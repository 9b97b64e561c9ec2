import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { record, stored } from '../support/domains.ts'
import { startService } from '../support/service.ts'
import { deliveriesUntil, onWatch, watch, watchUntil } from '../support/watches.ts'
import { WebhookReceiver, type Received } from '../support/webhook-receiver.ts'
import { prepareInstance } from './instance.ts'

const FLAGS = { 'webhook-networks': '127.0.0.0/8' }

const namesIn = ({ body }: Received) =>
  Object(body.data).changes.map((change: { record: { name: string } }) => change.record.name)

suite('watches on several nodes', () => {
  test('each change is delivered once, on any node, whichever node stops', async () => {
    using receiver = await WebhookReceiver.start()
    await using one = await startService({ flags: FLAGS })
    await using instance = await prepareInstance(one, FLAGS)
    const nodes = [await instance.start(), await instance.start()]
    await watch(one, { starts: 'nodo', url: receiver.url })
    const names: string[] = []
    for (let i = 0; i < 30; i++) {
      const service = [one, ...nodes][i % 3] ?? one
      names.push(`nodo${i}`)
      // The holder of the lease stops: another takes over, and nothing is delivered again.
      if (i === 20) await nodes[0]?.stop()
      await stored(i >= 20 && i % 3 === 1 ? one : service, [record(`nodo${i}`)])
    }
    while (receiver.received.flatMap(namesIn).length < 30) await receiver.until(receiver.received.length + 1)
    await pause(500)
    assert.deepEqual(receiver.received.flatMap(namesIn), names)
    assert.equal(new Set(receiver.received.map(({ id }) => id)).size, receiver.received.length)
  })

  test('killed in the middle of a delivery, it is sent again with the same id, and nothing is lost', async () => {
    using receiver = await WebhookReceiver.start()
    // Only to have a database and keys: it delivers nothing itself.
    await using one = await startService()
    await one.stop()
    await using instance = await prepareInstance(one, FLAGS)
    let node = await instance.start()
    // It has taken the delivery, and the sender never hears of it.
    receiver.answer = () => {}
    const { id } = await watch(node, { starts: 'corte', url: receiver.url })
    await stored(node, [record('corte1')])
    await receiver.until(1)
    await stored(node, [record('corte2')])
    await node.kill()
    await instance.endLeases()
    receiver.answer = (response) => void response.writeHead(200).end()
    node = await instance.start()
    await receiver.until(3)
    const [first, again, next] = receiver.received
    assert.deepEqual([again?.id, again?.text], [first?.id, first?.text])
    assert.notEqual(next?.id, first?.id)
    assert.deepEqual(receiver.received.map(namesIn), [['corte1'], ['corte1'], ['corte2']])
    await watchUntil(node, id, ({ pending }) => pending === 0)
  })

  test('a replay requested on one node is sent once by the delivering node, also after a kill', async () => {
    using receiver = await WebhookReceiver.start()
    await using one = await startService({ flags: FLAGS })
    await one.stop()
    await using instance = await prepareInstance(one, FLAGS)
    // The first to deliver; the other one is asked.
    const first = await instance.start()
    const { id } = await watch(first, { starts: 'reenvio', url: receiver.url })
    await stored(first, [record('reenvio')])
    const [sent] = await deliveriesUntil(first, id, ([newest]) => newest?.['state'] === 'delivered')
    const other = await instance.start()
    const replay = () => onWatch(other, 'replay', { id, delivery: sent?.['id'] })
    const held: ServerResponse[] = []
    receiver.answer = (response) => void held.push(response)
    assert.deepEqual(
      (await Promise.all([replay(), replay(), replay()])).map(({ status }) => status),
      [200, 200, 200],
    )
    receiver.answer = (response) => void response.writeHead(204).end()
    for (const response of held) response.writeHead(204).end()
    await deliveriesUntil(other, id, ([newest]) => newest?.['attempts'] === 2 && newest['replaying'] === 0)
    assert.equal(receiver.received.length, 2)
    receiver.answer = () => {}
    await replay()
    await receiver.until(3)
    await first.kill()
    await instance.endLeases()
    receiver.answer = (response) => void response.writeHead(204).end()
    await deliveriesUntil(other, id, ([newest]) => newest?.['attempts'] === 3 && newest['replaying'] === 0)
    assert.equal(receiver.received.length, 4)
    assert.equal(new Set(receiver.received.map(({ id: webhook, text }) => `${webhook} ${text}`)).size, 1)
  })
})
