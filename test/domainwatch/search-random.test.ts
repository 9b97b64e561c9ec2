/** All that answers from the list index is compared with the predicates of the filters, applied to the rows of the table. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { createTasks } from '../../src/lib/tasks.ts'
import { decodeCursor } from '../../src/domainwatch/list/order.ts'
import { FILTER_NAMES, toConditions, type FilterName } from '../../src/domainwatch/filters.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import type { ListRequest } from '../../src/domainwatch/list/domain-lists.ts'
import { countInIndex } from '../../src/domainwatch/stats.ts'
import { propertyRuns } from '../support/effort.ts'
import { listed, PLAIN_ORDERS } from '../support/expected-lists.ts'
import { openLists, getRequest, type OpenedLists } from '../support/open-lists.ts'
import { filtersWith, mark, newRecord, writingDate, type NewRecord } from '../support/random-lists.ts'

const HOUR = 3_600_000

const tasks = createTasks(2)
after(() => tasks.close())

const SPAN = { from: '2025-01-01 00:00:00', to: '2025-01-03 23:59:59' }

/** A request with a filter, some other filters, and what else a list takes. */
const requestWith = (name: FilterName) =>
  fc
    .record({
      filters: filtersWith(name),
      more: fc.record(
        {
          last_register: fc.integer({ min: 1, max: 12 }),
          last_deleted: fc.integer({ min: 1, max: 12 }),
          sort: fc.constantFrom('asc', 'desc'),
          order: fc.constantFrom(...PLAIN_ORDERS, 'num_alto', 'num_otro'),
        },
        { requiredKeys: [] },
      ),
      limit: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
    })
    .map(({ filters: some, more, limit }): ListRequest => {
      const given = Object.entries({ ...some, ...more }).map(([key, value]) => [key, String(value)])
      return { ...getRequest(Object.fromEntries(given)), limit }
    })

/** Compares all pages of a list, its export and its count with what they should be. @returns the number of records */
async function compare(opened: OpenedLists, asked: ListRequest): Promise<number> {
  const expected = await opened.expected(asked)
  const names = expected.map(({ name }) => name)
  const walked: unknown[] = []
  let cursor: ListRequest['cursor']
  do {
    const { json, count, next } = await opened.page({ ...asked, cursor })
    const page: readonly unknown[] = JSON.parse(json.toString())
    assert.equal(page.length, count)
    walked.push(...page)
    cursor = next === undefined ? undefined : decodeCursor(next)
  } while (cursor !== undefined)
  assert.deepEqual(walked, expected.map(listed))
  assert.deepEqual(await opened.exported(asked), names)
  const { nameIndex, clock } = opened
  const counted = { filters: asked.filters, span: SPAN, agents: 0, rising: 0, tags: 0 }
  const { totals } = await countInIndex(
    await nameIndex.current(asked),
    counted,
    nameIndex.contextAt(clock.now()),
  )
  const all = await opened.expected({ ...asked, lastRegister: undefined, lastDeleted: undefined })
  assert.equal(totals.records, all.length)
  return names.length
}

test('lists and counts are what the predicates of all filters and the table say after any writes', async () => {
  await using opened = await openLists(tasks)
  await opened.store(fc.sample(newRecord, { numRuns: 200, seed: 7 }).filter(firstOfName()))
  await opened.nameIndex.load()
  const numRuns = propertyRuns(40)
  let records = 0
  const compared = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(newRecord, { maxLength: 20, selector: ({ domain }) => domain }),
      fc.uniqueArray(mark, { maxLength: 60, selector: ({ domain }) => domain }),
      fc.tuple(writingDate, writingDate),
      fc.integer({ min: 0, max: 60 }),
      fc.boolean(),
      fc.tuple(...FILTER_NAMES.map(requestWith)),
      async (added, marks, dates, hours, purge, requests) => {
        await opened.store(added, dates[0])
        await opened.update(marks, dates[1])
        opened.clock.advance(hours * HOUR)
        if (purge) await purgeExpired(opened.database, opened.clock, new AbortController().signal)
        for (const asked of requests) {
          records += await compare(opened, asked)
          for (const name of FILTER_NAMES)
            if (toConditions({ [name]: asked.filters[name] }).length > 0) compared.add(name)
        }
      },
    ),
    { numRuns },
  )
  assert.deepEqual(opened.reports, [])
  assert.deepEqual([...compared].toSorted(), FILTER_NAMES.toSorted())
  assert.ok(records > 20 * numRuns, `only ${records} records compared`)
})

function firstOfName() {
  const seen = new Set<string>()
  return ({ domain }: NewRecord) => !seen.has(domain) && seen.add(domain).size > 0
}
