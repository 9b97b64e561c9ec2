import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { foldSearch, aLabelOf } from '../../lib/domain-names.ts'
import { matchesGlob } from '../filter-kinds.ts'
import {
  columnsOf,
  finishNow,
  parseTimestamp,
  Segment,
  TimeSlice,
  type Columns,
} from '../../lib/name-index/index.ts'
import { findPage } from './search.ts'

/** Of few characters, so that they repeat in a name. */
const names = fc.uniqueArray(fc.stringMatching(/^[asux1-]{1,14}$/), { minLength: 1, maxLength: 80 })
const patterns = fc.array(fc.stringMatching(/^[asu1*?-]{1,12}$/), { minLength: 1, maxLength: 20 })

test('a pattern finds all names that match it, however often a character occurs in them', () => {
  fc.assert(
    fc.property(names, patterns, (recorded, asked) => {
      const segment = new Segment(columnsOfNames(recorded))
      for (const pattern of asked) {
        const segments = { registered: [segment], deleted: [] }
        const found = finishNow(findPage(segments, requestOf(pattern), new TimeSlice()))
        const got = found.items.map((hit) => Buffer.from(segment.nameOf(hit.position)).toString('latin1'))
        assert.deepEqual(
          got.toSorted(),
          recorded.filter((name) => matchesGlob(name, pattern)).toSorted(),
          pattern,
        )
      }
    }),
  )
})

function columnsOfNames(recorded: readonly string[]): Columns {
  const timestamp = parseTimestamp('2025-01-02 03:04:05')
  const marks = {
    words: [],
    agent: 'uno',
    status: 1,
    reserved: 0,
    revision: 0,
    discardedAt: NaN,
    deleted: NaN,
    seen: 0,
    undated: 0,
    tags: '',
  }
  const records = recorded.map((name) => ({ ...marks, name, registered: timestamp, modified: timestamp }))
  return columnsOf(records, 'registered', aLabelOf)
}

function requestOf(pattern: string) {
  return {
    sources: [{ kind: 'all' as const }],
    filters: { pattern: foldSearch(pattern), reserve: false, rev: false, dis: false },
    order: 'registered' as const,
    ascending: false,
    after: undefined,
    limit: 1_000,
    now: 0,
  }
}
