import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'
import { watch, watchUntil } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const ACCEPTED = (response: ServerResponse) => void response.writeHead(204).end()

test('a delivery in progress when the database fails is not repeated', async () => {
  using receiver = await WebhookReceiver.start()
  await using service = await startService({ flags: { 'webhook-networks': '127.0.0.0/8' } })
  const failures = async () =>
    [...(await service.log()).matchAll(/notifications of a watch failed|background job failed/g)].length
  const { id } = await watch(service, { starts: 'corte', url: receiver.url })
  const held: ServerResponse[] = []
  receiver.answer = (response) => void held.push(response)
  await stored(service, [record('corte1')])
  await receiver.until(1)

  await service.sql('ALTER TABLE watch_destinations RENAME TO watch_destinations_away')
  await eventually(async () => (await failures()) > 0, 'the watches could not be read')
  const before = await failures()
  receiver.answer = ACCEPTED
  held.forEach(ACCEPTED)
  await eventually(async () => (await failures()) > before + 1, 'the result could not be stored')
  await service.sql('ALTER TABLE watch_destinations_away RENAME TO watch_destinations')

  await watchUntil(service, id, ({ pending, last_delivery }) => pending === 0 && last_delivery !== null)
  await stored(service, [record('corte2')])
  await watchUntil(service, id, () => receiver.received.length > 1)
  const names = receiver.received.map(({ body }) => Object(body.data).changes[0].record.name)
  assert.deepEqual(names, ['corte1', 'corte2'])
})
