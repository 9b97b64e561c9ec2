import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { getSegment } from '../../../test/support/segments.ts'
import { foldSearch } from '../../lib/domain-names.ts'
import { finishNow, TimeSlice } from '../../lib/name-index/index.ts'
import { plainContext } from '../../../test/support/plain-signals.ts'
import { matchesGlob } from '../filter-kinds.ts'
import { findPage } from './search.ts'

/** Of few characters, so that they repeat in a name. */
const names = fc.uniqueArray(fc.stringMatching(/^[asux1-]{1,14}$/), { minLength: 1, maxLength: 80 })
const patterns = fc.array(fc.stringMatching(/^[asu1*?-]{1,12}$/), { minLength: 1, maxLength: 20 })

test('a pattern finds all names that match it, however often a character occurs in them', () => {
  fc.assert(
    fc.property(names, patterns, (recorded, asked) => {
      const segment = getSegment(recorded.map((name) => ({ name })))
      for (const pattern of asked) {
        const segments = { registered: [segment], deleted: [] }
        const found = finishNow(findPage(segments, getRequest(pattern), new TimeSlice()))
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

function getRequest(pattern: string) {
  return {
    sources: [{ kind: 'all' as const }],
    filters: { pattern: foldSearch(pattern), reserve: false, rev: false, dis: false },
    order: 'registered' as const,
    ascending: false,
    after: undefined,
    limit: 1_000,
    context: plainContext(0),
  }
}
