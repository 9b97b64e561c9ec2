import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from './client.ts'
import { OverloadError } from './errors.ts'
import { SharedGate } from './gate.ts'

/** Tasks that note their client when they run. */
function recorder(gate: SharedGate) {
  const served: string[] = []
  return { served, run: (client: Client) => gate.run(client, async () => void served.push(client)) }
}

test('a crowd of addresses neither delays an account for more than one of them nor takes its place', async () => {
  const gate = new SharedGate({ running: 1, waiting: 3 })
  const { served, run } = recorder(gate)
  const leave = await gate.enter('service')
  const crowd = Array.from({ length: 6 }, (_, i) => run(`address ${i}`))
  const account = run('account 1')
  leave()
  const outcomes = await Promise.allSettled(crowd)
  await account
  assert.deepEqual(served, ['account 1', 'address 0', 'address 1', 'address 2', 'address 3'])
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  assert.ok(refused.length === 2 && refused.every(({ reason }) => reason instanceof OverloadError))
})

test('addresses take turns, and each has its share', async () => {
  const gate = new SharedGate({ running: 3, perClient: 2, waiting: 10 }, 1)
  const first = await gate.enter('address a')
  const second = gate.enter('address a')
  const other = await gate.enter('address b')
  const own = await gate.enter('account 1')
  assert.deepEqual([gate.running, gate.waiting], [3, 1])
  first()
  ;(await second)()
  for (const leave of [other, own]) leave()
  assert.deepEqual([gate.running, gate.waiting], [0, 0])
})

test('an address that stops waiting leaves both gates', async () => {
  const gate = new SharedGate({ running: 1, waiting: 10 })
  const leave = await gate.enter('account 1')
  const leaving = new AbortController()
  const waiting = gate.enter('address a', leaving.signal)
  await new Promise(setImmediate)
  leaving.abort(new Error('left'))
  await assert.rejects(waiting, /left/)
  leave()
  ;(await gate.enter('address b'))()
  assert.deepEqual([gate.running, gate.waiting], [0, 0])
})
