import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type PendingQuery, Pending } from './pending.ts'
import { createQuery } from './wire.ts'

function pendingQuery(name: string): PendingQuery {
  const query = createQuery(name)
  assert.ok(query)
  return { query, replied: () => undefined, dropped: () => undefined }
}

test('holds the same entries as a Map through many additions and removals', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 9 }), { maxLength: 600 }), (steps) => {
      const pending = new Pending()
      const model = new Map<number, PendingQuery>()
      for (const [i, step] of steps.entries()) {
        const [oldest] = model
        if (step < 7 || oldest === undefined) {
          const one = pendingQuery(`d${i}.cl`)
          const id = pending.add(one)
          assert.ok(!model.has(id) && id >= 0 && id < 65_536)
          model.set(id, one)
        } else {
          assert.ok(pending.delete(...oldest))
          assert.ok(!pending.delete(...oldest))
          model.delete(oldest[0])
        }
        assert.equal(pending.size, model.size)
      }
      const seen = new Map<number, PendingQuery>()
      pending.each((id, one) => seen.set(id, one))
      assert.deepEqual(new Set(seen), new Set(model))
      for (const [id, one] of model) assert.equal(pending.get(id), one)
      assert.deepEqual(new Set(pending.drain()), new Set(model.values()))
      assert.equal(pending.size, 0)
    }),
    { numRuns: 50 },
  )
})

test('unknown and released ids find nothing', () => {
  const pending = new Pending()
  const one = pendingQuery('a.cl')
  const id = pending.add(one)
  for (let other = 0; other < 65_536; other++)
    assert.equal(pending.get(other), other === id ? one : undefined)
  assert.ok(!pending.delete(id, pendingQuery('b.cl')))
  pending.delete(id, one)
  assert.equal(pending.get(id), undefined)
})

test('ids use all 16 bits', () => {
  const pending = new Pending()
  let [all, none] = [0xffff, 0]
  for (let i = 0; i < 2_000; i++) {
    const id = pending.add(pendingQuery('a.cl'))
    all &= id
    none |= id
  }
  assert.deepEqual([all, none], [0, 0xffff])
})
