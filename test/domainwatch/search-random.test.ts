import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { createTasks } from '../../src/lib/tasks.ts'
import { decodeCursor } from '../../src/domainwatch/list/cursor.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import type { ListRequest } from '../../src/domainwatch/list/domain-lists.ts'
import { propertyRuns } from '../support/effort.ts'
import { listed, PLAIN_ORDERS } from '../support/expected-lists.ts'
import { openLists, getRequest, type OpenedLists } from '../support/open-lists.ts'
import { filters, mark, newRecord, writingDate, type NewRecord } from '../support/random-lists.ts'

const HOUR = 3_600_000

const tasks = createTasks(2)
after(() => tasks.close())

const request = fc
  .record({
    filters,
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

/** Compares all pages of a list, and its export, with what they should be. @returns the number of records */
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
  return names.length
}

test('lists are what the filters and the table say after any writes', async () => {
  await using opened = await openLists(tasks)
  await opened.store(fc.sample(newRecord, { numRuns: 200, seed: 7 }).filter(firstOfName()))
  await opened.nameIndex.load()
  const numRuns = propertyRuns(40)
  let records = 0
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(newRecord, { maxLength: 20, selector: ({ domain }) => domain }),
      fc.uniqueArray(mark, { maxLength: 60, selector: ({ domain }) => domain }),
      fc.tuple(writingDate, writingDate),
      fc.integer({ min: 0, max: 60 }),
      fc.boolean(),
      fc.array(request, { minLength: 8, maxLength: 8 }),
      async (added, marks, dates, hours, purge, requests) => {
        await opened.store(added, dates[0])
        await opened.update(marks, dates[1])
        opened.clock.advance(hours * HOUR)
        if (purge) await purgeExpired(opened.database, opened.clock, new AbortController().signal)
        for (const asked of requests) records += await compare(opened, asked)
      },
    ),
    { numRuns },
  )
  assert.deepEqual(opened.reports, [])
  assert.ok(records > 20 * numRuns, `only ${records} records compared`)
})

function firstOfName() {
  const seen = new Set<string>()
  return ({ domain }: NewRecord) => !seen.has(domain) && seen.add(domain).size > 0
}
