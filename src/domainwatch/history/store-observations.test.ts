import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergeObservation, type Observation } from './store-observations.ts'

/** Returns the entries after storing observations in this order. */
function written(observations: readonly Observation[]): Observation[] {
  const kept = new Map<number, Observation>()
  for (const seen of observations) {
    const all = [...kept.values()].toSorted((a, b) => a.first - b.first)
    const merge = mergeObservation(
      seen,
      all.findLast(({ first }) => first <= seen.first),
      all.find(({ first }) => first > seen.first),
    )
    if (merge === undefined) continue
    if (merge.replaced !== undefined) kept.delete(merge.replaced)
    assert.equal(merge.isNew, !kept.has(merge.entry.first) && merge.replaced === undefined)
    kept.set(merge.entry.first, merge.entry)
  }
  return [...kept.values()].toSorted((a, b) => a.first - b.first)
}

const answers = fc.array(fc.constantFrom('["a"]', '["b"]', '[]', null), { minLength: 1, maxLength: 30 })
/** Observations ten milliseconds apart. */
const toObservations = (all: readonly (string | null)[]) =>
  all.map((servers, i): Observation => ({ first: i * 10, last: i * 10, servers }))

test('stored in order of time, each answer that differs from the one before starts an entry', () => {
  fc.assert(
    fc.property(answers, (all) => {
      const runs: Observation[] = []
      for (const seen of toObservations(all)) {
        const run = runs.at(-1)
        if (run?.servers === seen.servers) runs[runs.length - 1] = { ...run, last: seen.last }
        else runs.push(seen)
      }
      assert.deepEqual(written(toObservations(all)), runs)
    }),
  )
})

test('stored in any order, entries cover every observation and nothing else', () => {
  const shuffled = answers.chain((all) =>
    fc.shuffledSubarray(toObservations(all), { minLength: all.length, maxLength: all.length }),
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

test('two different answers at the same time are both kept', () => {
  const at = (servers: string | null): Observation => ({ first: 5, last: 5, servers })
  assert.deepEqual(written([at('["a"]'), at('["b"]')]), [
    { first: 5, last: 5, servers: '["a"]' },
    { first: 6, last: 6, servers: '["b"]' },
  ])
})
