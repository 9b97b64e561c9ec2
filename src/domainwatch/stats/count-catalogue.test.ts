import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Filters } from '../matches.ts'
import { buildColumns } from '../search/build.ts'
import { Draft } from '../search/draft.ts'
import { momentOf } from '../search/moment.ts'
import { Segment } from '../search/segment.ts'
import { countInCatalogue } from './count-catalogue.ts'

const RECORDS = 50_000
const SPAN = { from: '2026-01-01 00:00:00', to: '2026-01-31 23:59:59' }

function shelves() {
  const draft = new Draft(RECORDS)
  const moment = momentOf('2026-01-02 03:04:05')
  for (let i = 0; i < RECORDS; i++) {
    const marks = { status: 1, reserved: i === 7 ? 1 : 0, revision: 0, discardedAt: NaN, deleted: NaN }
    draft.add({ name: `casa${i}`, agent: 'grupo', registered: moment, modified: moment, ...marks })
  }
  return { registered: [new Segment(buildColumns(draft, 'registered'))], deleted: [] }
}

const all = shelves()
const ANY: Filters = { reserve: false, rev: false, dis: false }
/** None matches, one does, all do. */
const FILTERED: readonly [Filters, number][] = [
  [{ ...ANY, minLength: 40 }, 0],
  [{ ...ANY, reserve: true }, 1],
  [ANY, RECORDS],
]

for (const [filters, records] of FILTERED) {
  test(`others have the event loop in between, where ${records} of ${RECORDS} match`, async (t) => {
    let now = 0
    // Each look at the clock finds that a stretch is over.
    t.mock.method(performance, 'now', () => (now += 10))
    let turns = 0
    let isDone = false
    const turn = () => {
      turns++
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    const { tally } = await countInCatalogue(all, { filters, span: SPAN }, 0)
    isDone = true
    assert.equal(tally.totals.records, records)
    assert.ok(turns >= 3, `${turns} turns`)
  })
}
