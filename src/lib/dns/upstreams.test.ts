import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerHealth } from './upstreams.ts'

test('an unreachable server is last for five seconds, then one look-up tries it', () => {
  let now = 0
  const health = new ServerHealth(3, () => now)
  assert.deepEqual(health.order(), [0, 1, 2])
  health.unreachable(0)
  assert.deepEqual(health.order(), [1, 2, 0])
  assert.equal(health.isDead(0), true)
  now = 5_000
  assert.deepEqual(health.order(), [0, 1, 2], 'the look-up that tries it')
  assert.deepEqual(health.order(), [1, 2, 0], 'the others keep away')
  health.heard(0)
  assert.deepEqual(health.order(), [0, 1, 2])
  assert.equal(health.isDead(0), false)
})

test('silence counts only if the server has answered nothing since', () => {
  let now = 100
  const health = new ServerHealth(2, () => now)
  now = 200
  health.heard(0)
  health.silentSince(0, 100)
  assert.deepEqual(health.order(), [0, 1])
  health.silentSince(0, 201)
  assert.deepEqual(health.order(), [1, 0])
})

test('if all servers are dead, the configured order applies', () => {
  const health = new ServerHealth(2, () => 0)
  health.unreachable(0)
  health.unreachable(1)
  assert.deepEqual(health.order(), [0, 1])
})
