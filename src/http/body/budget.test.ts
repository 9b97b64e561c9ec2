import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OverloadError } from '../../lib/errors.ts'
import { BodyBudget, type BodySender } from './budget.ts'

const MIB = 1024 * 1024
const PACE = { bytesPerSecond: 0, windowMs: 1_000 }
/**
 * 60 MiB with a key, 45 MiB per account; 16 MiB without a key, 12 MiB per address; 4 MiB for small bodies of either
 * kind.
 */
const newBudget = () => new BodyBudget({ pace: PACE, largestBody: 8 * MIB, part: 1 / 4 })

const stranger = (address: string): BodySender => ({ address, account: undefined })
const member = (account: number, address = 'a'): BodySender => ({ address, account })

async function hold(budget: BodyBudget, sender: BodySender, bytes: number, declared = bytes) {
  const lease = await budget.admit(sender, declared)
  let isDisplaced = false
  lease.onEvicted = () => (isDisplaced = true)
  try {
    lease.grow(bytes)
  } catch (error) {
    lease.release()
    throw error
  }
  return { lease, isDisplaced: () => isDisplaced }
}

test('an account keeps its share, and others evict what exceeds it', async () => {
  const budget = newBudget()
  const held = []
  for (let i = 0; i < 11; i++) held.push(await hold(budget, member(1), 4 * MIB))
  await assert.rejects(hold(budget, member(1), 4 * MIB), OverloadError)
  for (let i = 0; i < 7; i++) await hold(budget, member(2), 4 * MIB)
  assert.equal(held.filter(({ isDisplaced }) => isDisplaced()).length, 3)
})

test('within an account, addresses that use its key evict each other', async () => {
  const budget = newBudget()
  const held = []
  for (let i = 0; i < 11; i++) held.push(await hold(budget, member(1, 'greedy'), 4 * MIB))
  await hold(budget, member(1, 'modest'), 8 * MIB)
  assert.equal(held.filter(({ isDisplaced }) => isDisplaced()).length, 2)
})

test('a client does not evict one that holds less than it would', async () => {
  const budget = newBudget()
  const held = []
  for (const address of 'abcdefgh') held.push(await hold(budget, stranger(address), 2 * MIB))
  await assert.rejects(hold(budget, stranger('i'), 2 * MIB), OverloadError)
  await hold(budget, stranger('j'), MIB)
  assert.equal(held.filter(({ isDisplaced }) => isDisplaced()).length, 1)
})

test('a body that is being processed is not evicted', async () => {
  const budget = newBudget()
  const first = await hold(budget, stranger('a'), 8 * MIB)
  const second = await hold(budget, stranger('b'), 8 * MIB)
  first.lease.pin()
  await hold(budget, stranger('c'), 4 * MIB)
  assert.deepEqual([first.isDisplaced(), second.isDisplaced()], [false, true])
})

test('released memory can be used again, and releasing twice has no effect', async () => {
  const budget = newBudget()
  for (let i = 0; i < 100; i++) {
    const { lease } = await hold(budget, stranger('a'), 8 * MIB)
    lease.release()
    lease.release()
  }
  await hold(budget, stranger('a'), 8 * MIB)
  await hold(budget, stranger('b'), 8 * MIB)
  await assert.rejects(hold(budget, stranger('c'), 8 * MIB), OverloadError)
})

test('small bodies have reserved memory, and use that of large ones when it is full', async () => {
  const budget = newBudget()
  for (const address of 'ab') await hold(budget, stranger(address), 8 * MIB)
  const small = []
  for (let i = 0; i < 12; i++) small.push(await hold(budget, stranger('a'), 256 * 1024))
  await assert.rejects(hold(budget, stranger('a'), 256 * 1024), OverloadError)
  await hold(budget, stranger('c'), 256 * 1024)
  assert.deepEqual(
    small.filter(({ isDisplaced }) => isDisplaced()),
    [],
  )
})

test('a body of unknown size moves to the memory of large ones as it grows', async () => {
  const budget = newBudget()
  const lease = await budget.admit(stranger('a'), undefined)
  for (let i = 0; i < 64; i++) lease.grow(128 * 1024)
  await hold(budget, stranger('b'), 8 * MIB)
  await assert.rejects(hold(budget, stranger('c'), 8 * MIB), OverloadError)
  // All reserved memory of this address is free, then all of it is used.
  for (let i = 0; i < 12; i++) await hold(budget, stranger('a'), 256 * 1024)
  await assert.rejects(hold(budget, stranger('a'), 256 * 1024), OverloadError)
  lease.release()
  await hold(budget, stranger('c'), 8 * MIB)
})

test('large bodies of an address wait until earlier ones release memory', async () => {
  const budget = newBudget()
  const first = await hold(budget, stranger('a'), 1, 8 * MIB)
  let isAdmitted = false
  const second = hold(budget, stranger('a'), 1, 8 * MIB).then((held) => {
    isAdmitted = true
    return held
  })
  // Bodies of other clients do not wait.
  await hold(budget, stranger('b'), 1, 8 * MIB)
  assert.equal(isAdmitted, false)
  first.lease.release()
  ;(await second).lease.release()
  // One is in progress, and the others wait.
  for (let i = 0; i < 1 + 64; i++) budget.admit(stranger('c'), 8 * MIB).catch(() => {})
  await assert.rejects(budget.admit(stranger('c'), 8 * MIB), OverloadError)
  await budget.admit(stranger('d'), 8 * MIB)
})

test('a body whose key was found is charged to its account and admits the next', async () => {
  const budget = newBudget()
  const { lease } = await hold(budget, stranger('a'), 8 * MIB)
  assert.equal(lease.client, 'no-key a')
  lease.assignTo(1)
  assert.equal(lease.client, '1 a')
  await hold(budget, stranger('a'), 8 * MIB)
  await hold(budget, stranger('b'), 8 * MIB)
  for (let i = 0; i < 9; i++) await hold(budget, member(1), 4 * MIB)
  await assert.rejects(hold(budget, member(1), 4 * MIB), OverloadError)
})

test('the number of bodies per client is limited', async () => {
  const budget = newBudget()
  for (let i = 0; i < 512; i++) await budget.admit(stranger('a'), 10)
  await assert.rejects(budget.admit(stranger('a'), 10), OverloadError)
  await budget.admit(stranger('b'), 10)
})
