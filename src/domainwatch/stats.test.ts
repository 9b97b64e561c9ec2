import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainContext } from '../../test/support/plain-signals.ts'
import type { Filters } from './filters.ts'
import { getSegment, type SomeFields } from '../../test/support/segments.ts'
import { Segment } from '../lib/name-index/index.ts'
import { addDays, countInIndex } from './stats.ts'

const RECORDS = 20_000
/** Of what a test does not count. */
const NONE = { agents: 0, rising: 0, tags: 0 }
const SPAN = { from: '2026-01-01 00:00:00', to: '2026-01-31 23:59:59' }

function segments() {
  const records = Array.from({ length: RECORDS }, (_, i) => ({ name: `casa${i}`, reserved: i === 7 ? 1 : 0 }))
  return { registered: [getSegment(records)], deleted: [] }
}

const all = segments()
const ANY: Filters = { reserve: false, rev: false, dis: false }
/** One record matches, or all do. */
const FILTERED: readonly [Filters, number][] = [
  [{ ...ANY, reserve: true }, 1],
  [ANY, RECORDS],
]

for (const [filters, records] of FILTERED) {
  test(`counting yields to the event loop if ${records} of ${RECORDS} records match`, async (t) => {
    let now = 0
    // The time slice is over at every check.
    t.mock.method(performance, 'now', () => (now += 10))
    let turns = 0
    let isDone = false
    const turn = () => {
      turns++
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    const { totals } = await countInIndex(all, { filters, span: SPAN, ...NONE }, plainContext(0))
    isDone = true
    assert.equal(totals.records, records)
    assert.ok(turns >= 3, `${turns} turns`)
  })
}

test('visits only deletions in the date range, and counts records deleted later as registered', async (t) => {
  const records: SomeFields[] = []
  const add = (name: string, date_reg: string, deleted_at: string) =>
    records.push({ name, status: 0, date_reg, deleted_at })
  const day = (date: string) => `${date} 12:00:00`
  for (let i = 0; i < RECORDS; i++) add(`vieja${i}`, day('2020-01-01'), day('2025-06-01'))
  add('antes', day('2026-01-01'), day('2025-12-31'))
  add('primera', SPAN.from, SPAN.from)
  add('luego', day('2026-01-01'), SPAN.to)
  add('futura', day('2026-01-02'), day('2026-02-01'))
  const [registered, deleted] = [getSegment(records), getSegment(records, 'deleted')]
  const visited = t.mock.method(Segment.prototype, 'lowerBound')
  const filters = { ...ANY, to: '2019-12-31 23:59:59' }
  const ofDeletions = { registered: [], deleted: [deleted] }
  await countInIndex(ofDeletions, { filters, span: SPAN, ...NONE }, plainContext(0))
  assert.equal(visited.mock.callCount(), 2)

  const { days } = await countInIndex(
    { registered: [registered], deleted: [deleted] },
    { filters: ANY, span: SPAN, ...NONE },
    plainContext(0),
  )
  // The first, second and last of January; `primera` was first recorded as deleted.
  assert.deepEqual([days.registered.slice(0, 2), days.registered.at(-1)], [[2, 1], 0])
  assert.deepEqual([days.deleted.slice(0, 2), days.deleted.at(-1)], [[1, 0], 1])
})

test('the first 10,000 agents are counted separately and no record is lost', async () => {
  const all = Array.from({ length: 12_000 }, (_, i) => ({ name: `n${i}`, agent: `a${i}` }))
  const others = Array.from({ length: 10 }, (_, i) => ({ name: `m${i}`, agent: i < 5 ? 'a7' : 'a11999' }))
  const parts = [all.slice(0, 10_000), [...all.slice(10_000), ...others]]
  const { agents } = await countInIndex(
    { registered: parts.map((records) => getSegment(records)), deleted: [] },
    { filters: ANY, span: SPAN, ...NONE, agents: 1 },
    plainContext(0),
  )
  assert.deepEqual(agents, { agent: ['a7'], count: [6], others: 12_010 - 6 })
})

const ADDED: readonly [day: string, count: number, wanted: string][] = [
  ['2026-01-05', -89, '2025-10-08'],
  ['2024-02-28', 1, '2024-02-29'],
  ['2025-12-31', 1, '2026-01-01'],
  ['0001-01-02', -5, '0001-01-01'],
  ['9999-12-30', 5, '9999-12-31'],
]

for (const [day, count, wanted] of ADDED) {
  test(`${day} plus ${count} days`, () => assert.equal(addDays(day, count), wanted))
}
