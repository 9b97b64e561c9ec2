import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { createTasks } from '../../src/lib/tasks.ts'
import { decodeCursor } from '../../src/domainwatch/list/cursor.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import { LIST_ORDERS } from '../../src/domainwatch/list/order.ts'
import type { ListRequest } from '../../src/domainwatch/list/domain-lists.ts'
import { propertyRuns } from '../support/effort.ts'
import { openBoth, requestOf, type OpenedBoth } from '../support/lists-both-ways.ts'
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
        order: fc.constantFrom(...LIST_ORDERS),
      },
      { requiredKeys: [] },
    ),
    limit: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  })
  .map(({ filters: some, more, limit }): ListRequest => {
    const given = Object.entries({ ...some, ...more }).map(([key, value]) => [key, String(value)])
    return { ...requestOf(Object.fromEntries(given)), limit }
  })

/** All pages of a list, each as both tell it. */
async function walkBoth({ fromIndex, fromDatabase }: OpenedBoth, asked: ListRequest): Promise<number> {
  let count = 0
  let cursor: ListRequest['cursor']
  const names: unknown[] = []
  for (;;) {
    const one = await fromIndex.page({ ...asked, cursor })
    const other = await fromDatabase.page({ ...asked, cursor })
    assert.deepEqual({ ...one, json: one.json.toString() }, { ...other, json: other.json.toString() })
    count += one.count
    const page: readonly { name: string }[] = JSON.parse(one.json.toString())
    names.push(...page.map(({ name }) => name))
    if (one.next === undefined) break
    cursor = decodeCursor(one.next)
  }
  const exported: unknown[] = []
  for await (const rows of fromDatabase.rows(asked)) exported.push(...rows.map(([name]) => name))
  assert.deepEqual(exported, names)
  const skipped = new Set(names.filter((_, i) => i % 3 === 0).map(String))
  const wanted = names.filter((name) => !skipped.has(String(name))).slice(0, 5)
  for (const lists of [fromIndex, fromDatabase])
    assert.deepEqual(await lists.firstNames(asked, 5, skipped), wanted)
  return count
}

test('lists from the index equal those of the database after any writes', async () => {
  await using opened = await openBoth(tasks)
  await opened.store(fc.sample(newRecord, { numRuns: 200, seed: 7 }).filter(firstOfName()))
  await opened.ready()
  const numRuns = propertyRuns(40)
  let listed = 0
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
        for (const asked of requests) listed += await walkBoth(opened, asked)
      },
    ),
    { numRuns },
  )
  assert.deepEqual(opened.said, [])
  assert.ok(listed > 20 * numRuns, `only ${listed} records compared`)
})

function firstOfName() {
  const seen = new Set<string>()
  return ({ domain }: NewRecord) => !seen.has(domain) && seen.add(domain).size > 0
}
