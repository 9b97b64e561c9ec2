import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { webhookTransport } from './webhook.ts'
import { attempt, DeliveryGates } from './delivery-attempt.ts'

test('an attempt leaves nothing on the signal of its notifier, which lives for months', async () => {
  const transport = webhookTransport({ clock: systemClock, isAllowedAddress: () => false, userAgent: 'test' })
  const stop = new AbortController()
  const row = {
    id: 'd1',
    account_id: 1,
    address: 'http://127.0.0.1:9/',
    secret: null,
    previous_secret: null,
    previous_secret_until: null,
  }
  const gates = new DeliveryGates()
  const delivery = { id: 'msg_x', body: '{}' }
  const made = await attempt({ clock: systemClock, gates }, transport, row, delivery, stop.signal)
  assert.equal(made?.outcome.kind, 'failed')
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
})
