import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { accountClient } from '../lib/client.ts'
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

/** Gates with deliveries that last until they are ended. */
function createSilence() {
  const gates = new DeliveryGates()
  const { signal } = new AbortController()
  /** Those that run or have run, in the order of their starts, by account and receiver. */
  const started: string[] = []
  const ends: (() => void)[] = []
  return {
    started,
    count: (of: string) => started.filter((one) => one === of).length,
    begin: async (account: number, host: string, count = 1): Promise<void> => {
      const deliver = async () => {
        started.push(`${account} ${host}`)
        await new Promise<void>((resolve) => ends.push(resolve))
      }
      for (let i = 0; i < count; i++) void gates.run(accountClient(account), host, signal, deliver)
      await setImmediate()
    },
    endFirst: async (): Promise<void> => {
      ends.shift()?.()
      await setImmediate()
    },
  }
}

test('an account runs 16 deliveries, and 4 to one receiver; those that wait take no place at their receiver', async () => {
  const { begin, count, started } = createSilence()
  await begin(1, 'a', 10)
  assert.equal(count('1 a'), 4)
  for (const account of [2, 3, 4, 5]) {
    for (let host = 0; host < 16; host++) await begin(account, `silent${account}-${host}`)
    await begin(account, 'b', 4)
  }
  assert.equal(started.length, 4 + 64)
  await begin(6, 'b')
  assert.equal(count('6 b'), 1)
})

test('a receiver gets 8 deliveries, whose accounts delay no delivery to another receiver', async () => {
  const { begin, count, started } = createSilence()
  for (let account = 1; account <= 32; account++) await begin(account, 'slow', 4)
  assert.equal(started.length, 8)
  await begin(1, 'other')
  await begin(33, 'other')
  assert.deepEqual([count('1 other'), count('33 other')], [1, 1])
})

test('256 deliveries run, after which an account waits for one of each other account at most', async () => {
  const { begin, endFirst, count, started } = createSilence()
  const fill = async (account: number) => {
    for (let host = 0; host < 16; host++) await begin(account, `${account}-${host}`)
  }
  for (let account = 1; account <= 16; account++) await fill(account)
  assert.equal(started.length, 256)
  for (const account of [17, 18]) await fill(account)
  await begin(19, 'own')
  assert.equal(started.length, 256)
  for (let ended = 0; ended < 3; ended++) await endFirst()
  assert.equal(started.length, 259)
  assert.equal(count('19 own'), 1)
})
