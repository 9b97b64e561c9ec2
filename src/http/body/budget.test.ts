import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OverloadError } from '../../lib/errors.ts'
import { BodyBudget, type BodySender } from './budget.ts'

const MIB = 1024 * 1024
const PACE = { bytesPerSecond: 0, windowMs: 1_000 }
/** 60 MiB with a key, 45 of it for an account; 16 MiB without, 12 of it for an address; 4 MiB for small ones each. */
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

test('an account has its share, and its neighbour displaces what is more than that', async () => {
  const budget = newBudget()
  const held = []
  for (let i = 0; i < 11; i++) held.push(await hold(budget, member(1), 4 * MIB))
  await assert.rejects(hold(budget, member(1), 4 * MIB), OverloadError)
  for (let i = 0; i < 7; i++) await hold(budget, member(2), 4 * MIB)
  assert.equal(held.filter(({ isDisplaced }) => isDisplaced()).length, 3)
})

test('within an account, addresses that use its key displace each other', async () => {
  const budget = newBudget()
  const held = []
  for (let i = 0; i < 11; i++) held.push(await hold(budget, member(1, 'greedy'), 4 * MIB))
  await hold(budget, member(1, 'modest'), 8 * MIB)
  assert.equal(held.filter(({ isDisplaced }) => isDisplaced()).length, 2)
})

test('who holds the most is no victim of who would hold more', async () => {
  const budget = newBudget()
  const held = []
  for (const address of 'abcdefgh') held.push(await hold(budget, stranger(address), 2 * MIB))
  await assert.rejects(hold(budget, stranger('i'), 2 * MIB), OverloadError)
  await hold(budget, stranger('j'), MIB)
  assert.equal(held.filter(({ isDisplaced }) => isDisplaced()).length, 1)
})

test('a body that is being worked on is not displaced', async () => {
  const budget = newBudget()
  const first = await hold(budget, stranger('a'), 8 * MIB)
  const second = await hold(budget, stranger('b'), 8 * MIB)
  first.lease.pin()
  await hold(budget, stranger('c'), 4 * MIB)
  assert.deepEqual([first.isDisplaced(), second.isDisplaced()], [false, true])
})

test('what is released can be taken again, however often it is released', async () => {
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

test('small bodies have memory that large ones cannot take, and theirs when it is full', async () => {
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
  // All small memory of this address is free, and then all of it is taken.
  for (let i = 0; i < 12; i++) await hold(budget, stranger('a'), 256 * 1024)
  await assert.rejects(hold(budget, stranger('a'), 256 * 1024), OverloadError)
  lease.release()
  await hold(budget, stranger('c'), 8 * MIB)
})

test('large bodies of one address wait until those before them leave room', async () => {
  const budget = newBudget()
  const first = await hold(budget, stranger('a'), 1, 8 * MIB)
  let isAdmitted = false
  const second = hold(budget, stranger('a'), 1, 8 * MIB).then((held) => {
    isAdmitted = true
    return held
  })
  // Of others nobody waits.
  await hold(budget, stranger('b'), 1, 8 * MIB)
  assert.equal(isAdmitted, false)
  first.lease.release()
  ;(await second).lease.release()
  // One is under way, and so many wait.
  for (let i = 0; i < 1 + 64; i++) budget.admit(stranger('c'), 8 * MIB).catch(() => {})
  await assert.rejects(budget.admit(stranger('c'), 8 * MIB), OverloadError)
  await budget.admit(stranger('d'), 8 * MIB)
})

test('a body whose key was found counts for its account, and leaves its turn to the next', async () => {
  const budget = newBudget()
  const { lease } = await hold(budget, stranger('a'), 8 * MIB)
  assert.equal(lease.client, 'a')
  lease.assignTo(1)
  assert.equal(lease.client, '1 a')
  await hold(budget, stranger('a'), 8 * MIB)
  await hold(budget, stranger('b'), 8 * MIB)
  for (let i = 0; i < 9; i++) await hold(budget, member(1), 4 * MIB)
  await assert.rejects(hold(budget, member(1), 4 * MIB), OverloadError)
})

test('one client has so many bodies and no more', async () => {
  const budget = newBudget()
  for (let i = 0; i < 512; i++) await budget.admit(stranger('a'), 10)
  await assert.rejects(budget.admit(stranger('a'), 10), OverloadError)
  await budget.admit(stranger('b'), 10)
})
