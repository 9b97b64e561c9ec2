import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OverloadError } from '../../lib/errors.ts'
import { requestClient } from '../../lib/client.ts'
import { createBodyBudget, type BodyBudget } from './budget.ts'

const KIB = 1024
const MIB = 1024 * KIB
const minRate = { bytesPerSecond: 0, windowMs: 1_000 }
/** 20 MiB: 15 per account, 11 per address; of them 1 MiB for small bodies: 768 and 576 KiB. */
const newBudget = () => createBodyBudget({ minRate, largestBody: 8 * MIB, memoryFraction: 1 / 16 })

/** Opens the memory of a body without a key, or with one, and lets it grow in steps of 64 KiB. */
function hold(budget: BodyBudget, bytes: number, address: string, account?: number) {
  const memory = budget.open(requestClient(account, address))
  const body = { memory, isDisplaced: false }
  memory.onDisplaced = () => (body.isDisplaced = true)
  try {
    for (let size = 0; size < bytes; size += 64 * KIB) memory.grow(64 * KIB)
  } catch (error) {
    memory.release()
    throw error
  }
  return body
}

test('small bodies have memory of their own, and use that of large ones when it is full', () => {
  const budget = newBudget()
  hold(budget, 8 * MIB, 'a').memory.pin()
  hold(budget, 7 * MIB, 'b').memory.pin()
  assert.throws(() => hold(budget, MIB, 'c'), OverloadError)
  for (const address of 'aac') hold(budget, 256 * KIB, address).memory.pin()
  assert.throws(() => hold(budget, 256 * KIB, 'd'), OverloadError)
  hold(budget, 256 * KIB, 'd', 1).memory.pin()
  // Now the memory of small ones is full.
  hold(budget, 256 * KIB, 'e', 2)
})

test('a body leaves the memory of small ones as it grows', () => {
  const budget = newBudget()
  hold(budget, 8 * MIB, 'a')
  const small = [...'ab'].map((address) => hold(budget, 256 * KIB, address))
  assert.ok(small.every(({ isDisplaced }) => !isDisplaced))
})

test('a body whose key was found is charged to its account, and still stays', () => {
  const budget = newBudget()
  const body = hold(budget, 8 * MIB, 'a')
  body.memory.pin()
  assert.equal(body.memory.client, 'address a')
  body.memory.assignTo('account 1 at a')
  assert.equal(body.memory.client, 'account 1 at a')
  // The memory without a key is free again, that of the account is not.
  hold(budget, 8 * MIB, 'b')
  assert.throws(() => hold(budget, 8 * MIB, 'c', 1), OverloadError)
  hold(budget, 4 * MIB, 'c', 2)
  hold(budget, 3 * MIB, 'd', 2)
  assert.equal(body.isDisplaced, false)
  body.memory.release()
})
