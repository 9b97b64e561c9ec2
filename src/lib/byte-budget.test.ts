import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ByteBudget, type ByteHold } from './byte-budget.ts'
import { getGroup, type Client } from './client.ts'
import { OverloadError } from './errors.ts'

/** Of 100 bytes, an account has 75, and an address 56. */
const BYTES = 100

/** A budget, and the holds that were displaced, in order. The first letter of a hold is its account, the second one its address. */
function recorder() {
  const budget = new ByteBudget(BYTES)
  const displaced: string[] = []
  return {
    budget,
    displaced,
    hold: (name: string, bytes: number) => {
      const client: Client = `account ${'abc'.indexOf(name.charAt(0))} at ${name.charAt(1)}`
      const hold = budget.open(client, () => displaced.push(name))
      hold.grow(bytes)
      return hold
    },
  }
}

test('an account and an address have their shares, and the rest stays free for others', () => {
  const { budget, displaced, hold } = recorder()
  hold('ax1', 56)
  assert.throws(() => hold('ax2', 1), OverloadError)
  hold('ay1', 19)
  hold('bx1', 25)
  assert.deepEqual([budget.bytes, displaced], [100, []])
})

test('a client may have one hold of the largest size', () => {
  const budget = new ByteBudget(BYTES, 90)
  budget.open('address a', () => {}).grow(90)
  assert.equal(budget.bytes, 90)
})

test('in a full budget, a client displaces the largest hold of the account that has the most', () => {
  const { budget, displaced, hold } = recorder()
  hold('ax1', 20)
  const largest = hold('ax2', 30)
  hold('bx1', 40)
  hold('cx1', 25)
  assert.deepEqual(displaced, ['ax2'])
  assert.deepEqual([largest.bytes, budget.bytes], [0, 85])
  // The other one has as much as this one would have.
  assert.throws(() => hold('cx2', 16), OverloadError)
  hold('cx3', 15)
  assert.deepEqual(displaced, ['ax2'])
})

test('in an account that has its share, an address displaces the one that has the most', () => {
  const { displaced, hold } = recorder()
  hold('ax1', 20)
  hold('ax2', 15)
  hold('ay1', 40)
  hold('bx1', 25)
  hold('az1', 10)
  assert.deepEqual(displaced, ['ay1'])
  hold('az2', 24)
  assert.deepEqual(displaced, ['ay1'])
  assert.throws(() => hold('ax3', 30), OverloadError)
})

test('pinned holds stay', () => {
  const { budget, displaced, hold } = recorder()
  const pinned = hold('ax1', 55)
  pinned.pin()
  hold('bx1', 45)
  assert.throws(() => hold('cx1', 46), OverloadError)
  hold('cx2', 10)
  assert.deepEqual(displaced, ['bx1'])
  pinned.release()
  assert.equal(budget.bytes, 10)
})

test('whatever clients do, limits hold, and none loses a hold to a client or an account that has as much', () => {
  const client = fc.constantFrom<Client[]>(
    'account 1 at a',
    'account 1 at b',
    'account 2 at a',
    'address a',
    'address b',
  )
  const operation = fc.constantFrom('open', 'grow', 'grow', 'pin', 'release')
  const steps = fc.array(fc.tuple(operation, client, fc.nat(40), fc.nat(20)), { maxLength: 100 })
  fc.assert(
    fc.property(steps, (taken) => {
      const budget = new ByteBudget(BYTES)
      const holds: { client: Client; bytes: number; isPinned: boolean; hold: ByteHold }[] = []
      const total = (filter: (of: Client) => boolean = () => true) =>
        holds.reduce((sum, each) => sum + (filter(each.client) ? each.bytes : 0), 0)
      const ofGroup = (of: Client) => total((each) => getGroup(each) === getGroup(of))
      let growing: Client = 'service'
      for (const [step, name, bytes, place] of taken) {
        const chosen = holds[place % Math.max(1, holds.length)]
        if (step === 'open' || chosen === undefined) {
          const onDisplaced = () => {
            const isSame = getGroup(name) === getGroup(growing)
            const has = (of: Client) => (isSame ? total((each) => each === of) : ofGroup(of))
            assert.ok(!opened.isPinned && has(name) > has(growing))
            opened.bytes = 0
          }
          const opened = { client: name, bytes: 0, isPinned: false, hold: budget.open(name, onDisplaced) }
          holds.push(opened)
        } else if (step === 'grow') {
          growing = chosen.client
          try {
            chosen.hold.grow(bytes)
            chosen.bytes += bytes
          } catch (error) {
            assert.ok(error instanceof OverloadError)
          }
        } else if (step === 'pin') {
          chosen.hold.pin()
          chosen.isPinned = true
        } else {
          chosen.hold.release()
          chosen.bytes = 0
        }
        assert.equal(budget.bytes, total())
        assert.ok(total() <= BYTES)
        for (const each of holds) {
          assert.equal(each.hold.bytes, each.bytes)
          assert.ok(ofGroup(each.client) <= 75 && total((of) => of === each.client) <= 56)
        }
      }
    }),
    { numRuns: 300 },
  )
})
