import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { place, type Sighting } from './sighting.ts'

/** What is kept of some sightings that are written down in this order. */
function written(sightings: readonly Sighting[]): Sighting[] {
  const kept = new Map<number, Sighting>()
  for (const seen of sightings) {
    const all = [...kept.values()].toSorted((a, b) => a.first - b.first)
    const placed = place(
      seen,
      all.findLast(({ first }) => first <= seen.first),
      all.find(({ first }) => first > seen.first),
    )
    if (placed === undefined) continue
    if (placed.instead !== undefined) kept.delete(placed.instead)
    assert.equal(placed.isNew, !kept.has(placed.entry.first) && placed.instead === undefined)
    kept.set(placed.entry.first, placed.entry)
  }
  return [...kept.values()].toSorted((a, b) => a.first - b.first)
}

const answers = fc.array(fc.constantFrom('["a"]', '["b"]', '[]', null), { minLength: 1, maxLength: 30 })
/** Ten milliseconds apart. */
const moments = (all: readonly (string | null)[]) =>
  all.map((servers, i): Sighting => ({ first: i * 10, last: i * 10, servers }))

test('in the order of time each answer that differs from the one before begins an entry', () => {
  fc.assert(
    fc.property(answers, (all) => {
      const runs: Sighting[] = []
      for (const seen of moments(all)) {
        const run = runs.at(-1)
        if (run?.servers === seen.servers) runs[runs.length - 1] = { ...run, last: seen.last }
        else runs.push(seen)
      }
      assert.deepEqual(written(moments(all)), runs)
    }),
  )
})

test('in any order nothing that was seen is left out, and no entry says what was not', () => {
  const shuffled = answers.chain((all) =>
    fc.shuffledSubarray(moments(all), { minLength: all.length, maxLength: all.length }),
  )
  fc.assert(
    fc.property(shuffled, (all) => {
      const entries = written(all)
      for (const { first, servers } of all) {
        const covers = entries.some(
          (one) => one.servers === servers && one.first <= first && first <= one.last,
        )
        assert.ok(covers, `${servers} at ${first}`)
      }
      for (const entry of entries) {
        for (const end of [entry.first, entry.last])
          assert.ok(all.some(({ first, servers }) => first === end && servers === entry.servers))
      }
    }),
  )
})

test('two that differ at the same moment are both kept', () => {
  const at = (servers: string | null): Sighting => ({ first: 5, last: 5, servers })
  assert.deepEqual(written([at('["a"]'), at('["b"]')]), [
    { first: 5, last: 5, servers: '["a"]' },
    { first: 6, last: 6, servers: '["b"]' },
  ])
})
