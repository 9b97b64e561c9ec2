import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OverloadError } from '../../lib/errors.ts'
import { requestClient } from '../../lib/client.ts'
import { BodyBudget } from './budget.ts'

const KIB = 1024
const MIB = 1024 * KIB
const minRate = { bytesPerSecond: 0, windowMs: 1_000 }
/** 60 MiB with a key, 45 per account; 16 MiB without a key, 12 per address; 4 MiB of small bodies of either kind, 3 per client. */
const newBudget = () => new BodyBudget({ minRate, largestBody: 8 * MIB, memoryFraction: 1 / 4 })

/** Opens the memory of a body without a key, or with one, and lets it grow in steps of 128 KiB. */
function hold(budget: BodyBudget, bytes: number, address: string, account?: number) {
  const memory = budget.open(requestClient(account, address))
  const body = { memory, isDisplaced: false }
  memory.onDisplaced = () => (body.isDisplaced = true)
  for (let size = 0; size < bytes; size += 128 * KIB) memory.grow(128 * KIB)
  return body
}

test('bodies with a key and without have budgets of their own', () => {
  const budget = newBudget()
  for (const address of 'ab') hold(budget, 8 * MIB, address).memory.pin()
  assert.throws(() => hold(budget, 8 * MIB, 'c'), OverloadError)
  for (let i = 0; i < 5; i++) hold(budget, 8 * MIB, 'a', 1)
  assert.throws(() => hold(budget, 8 * MIB, 'a', 1), OverloadError)
  hold(budget, 8 * MIB, 'a', 2)
})

test('small bodies have memory of their own, and use that of large ones when it is full', () => {
  const budget = newBudget()
  const large = [...'ab'].map((address) => hold(budget, 8 * MIB, address))
  const small = Array.from({ length: 12 }, () => hold(budget, 256 * KIB, 'a'))
  assert.throws(() => hold(budget, 256 * KIB, 'a'), OverloadError)
  hold(budget, 256 * KIB, 'c')
  large[1]?.memory.release()
  small.push(hold(budget, 256 * KIB, 'a'))
  assert.ok(small.every(({ isDisplaced }) => !isDisplaced))
})

test('a body leaves the memory of small ones as it grows', () => {
  const budget = newBudget()
  hold(budget, 8 * MIB, 'a')
  const small = Array.from({ length: 12 }, () => hold(budget, 256 * KIB, 'a'))
  assert.ok(small.every(({ isDisplaced }) => !isDisplaced))
})

test('a body whose key was found is charged to its account, and still stays', () => {
  const budget = newBudget()
  const body = hold(budget, 8 * MIB, 'a')
  body.memory.pin()
  assert.equal(body.memory.client, 'address a')
  body.memory.assignTo('account 1 at a')
  assert.equal(body.memory.client, 'account 1 at a')
  for (const address of 'bc') hold(budget, 8 * MIB, address)
  for (let i = 0; i < 4; i++) hold(budget, 8 * MIB, 'a', 1)
  assert.throws(() => hold(budget, 8 * MIB, 'a', 1), OverloadError)
  for (let i = 0; i < 3; i++) hold(budget, 8 * MIB, 'a', 2)
  assert.equal(body.isDisplaced, false)
  body.memory.release()
})
