import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ByteBudget, type ByteHold } from './byte-budget.ts'
import { OverloadError } from './errors.ts'

/** A budget of 100 bytes, 75 per client, and the holds that were displaced, in order. */
function recorder() {
  const budget = new ByteBudget<string>({ bytes: 100, perClient: 75 })
  const displaced: string[] = []
  return {
    budget,
    displaced,
    /** Opens a hold of the client that its name begins with. */
    hold: (name: string, bytes: number) => {
      const hold = budget.open(name.charAt(0), () => displaced.push(name))
      hold.grow(bytes)
      return hold
    },
  }
}

test('a client has its share, and the rest stays free for others', () => {
  const { budget, displaced, hold } = recorder()
  hold('a1', 75)
  assert.throws(() => hold('a2', 1), OverloadError)
  hold('b1', 25)
  assert.deepEqual([budget.bytes, displaced], [100, []])
})

test('in a full budget, a client displaces the largest hold of the one that has the most', () => {
  const { budget, displaced, hold } = recorder()
  hold('a1', 20)
  const largest = hold('a2', 30)
  hold('b1', 40)
  hold('c1', 25)
  assert.deepEqual(displaced, ['a2'])
  assert.deepEqual([largest.bytes, budget.bytes], [0, 85])
  // The other has as much as this one would have.
  assert.throws(() => hold('c2', 16), OverloadError)
  hold('c3', 15)
  assert.deepEqual(displaced, ['a2'])
})

test('pinned holds stay', () => {
  const { budget, displaced, hold } = recorder()
  const pinned = hold('a1', 60)
  pinned.pin()
  hold('b1', 40)
  assert.throws(() => hold('c1', 41), OverloadError)
  hold('c2', 10)
  assert.deepEqual(displaced, ['b1'])
  pinned.release()
  assert.equal(budget.bytes, 10)
})

test('a hold that was released or displaced returns nothing again', () => {
  const { budget, hold } = recorder()
  const first = hold('a1', 70)
  hold('b1', 40)
  first.release()
  const second = hold('a2', 10)
  second.release()
  second.release()
  assert.equal(budget.bytes, 40)
})

test('whatever clients do, limits hold, and nobody loses to a client that has as much', async () => {
  const client = fc.constantFrom('a', 'b', 'c', 'd')
  const operation = fc.constantFrom('open', 'grow', 'pin', 'release')
  const steps = fc.array(fc.tuple(operation, client, fc.nat(40), fc.nat(20)), { maxLength: 100 })
  fc.assert(
    fc.property(steps, (taken) => {
      const budget = new ByteBudget<string>({ bytes: 100, perClient: 75 })
      const holds: { client: string; bytes: number; isPinned: boolean; hold: ByteHold }[] = []
      let growing = ''
      const total = (of?: string) =>
        holds.reduce((sum, each) => sum + (of === undefined || each.client === of ? each.bytes : 0), 0)
      for (const [step, name, bytes, place] of taken) {
        const chosen = holds[place % Math.max(1, holds.length)]
        if (step === 'open' || chosen === undefined) {
          const opened = {
            client: name,
            bytes: 0,
            isPinned: false,
            hold: budget.open(name, () => {
              assert.ok(!opened.isPinned && total(name) > total(growing))
              opened.bytes = 0
            }),
          }
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
        assert.ok(total() <= 100 && [...'abcd'].every((each) => total(each) <= 75))
        for (const each of holds) assert.equal(each.hold.bytes, each.bytes)
      }
    }),
    { numRuns: 300 },
  )
})
