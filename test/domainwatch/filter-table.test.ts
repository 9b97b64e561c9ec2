/** The filters are defined in one table. All that applies, shows or describes them is compared with it and with each other. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { toConditions, FILTER_NAMES, matches } from '../../src/domainwatch/filters.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import { listParameters } from '../../src/domainwatch/list/domain-lists.ts'
import { countInIndex } from '../../src/domainwatch/stats/statistics.ts'
import { createTasks } from '../../src/lib/tasks.ts'
import { propertyRuns } from '../support/effort.ts'
import { openLists, getRequest } from '../support/open-lists.ts'
import { plainContext } from '../support/plain-signals.ts'
import { filtersWith, mark, Model, newRecord, writingDate } from '../support/random-lists.ts'

const SPAN = { from: '2025-01-01 00:00:00', to: '2025-01-03 23:59:59' }
const root = fileURLToPath(new URL('../..', import.meta.url))

const tasks = createTasks(2)
after(() => tasks.close())

test('the index answers as the predicates of the filters do', async () => {
  await using opened = await openLists(tasks)
  const { nameIndex, clock, database } = opened
  const model = new Model()
  const compared = new Set<string>()
  const step = fc.record({
    added: fc.uniqueArray(newRecord, { maxLength: 12, selector: ({ domain }) => domain }),
    marks: fc.uniqueArray(mark, { maxLength: 20, selector: ({ domain }) => domain }),
    dates: fc.tuple(writingDate, writingDate),
    hours: fc.integer({ min: 0, max: 60 }),
    requests: fc.tuple(...FILTER_NAMES.map(filtersWith)),
  })
  await fc.assert(
    fc.asyncProperty(step, async ({ added, marks, dates, hours, requests }) => {
      // Like `add`: an expired record starts afresh.
      await purgeExpired(database, clock, new AbortController().signal)
      await opened.store(added, dates[0])
      model.add(added, clock.now(), dates[0])
      const known = model.known(marks, clock.now())
      await opened.update(known, dates[1])
      model.update(known, clock.now(), dates[1])
      clock.advance(hours * 3_600_000)
      const records = [...model.records.values()]
      const context = plainContext(clock.now(), 'UTC', records)
      for (const given of requests) {
        const asked = getRequest(given)
        const wanted = records.filter((record) => matches(asked.filters, record, context))
        const names = wanted.map(({ name }) => name).toSorted()
        const { json } = await opened.page(asked)
        const listed: readonly { name: string }[] = JSON.parse(json.toString())
        assert.deepEqual(listed.map(({ name }) => name).toSorted(), names, JSON.stringify(given))
        const request = { filters: asked.filters, span: SPAN }
        const { totals } = await countInIndex(
          await nameIndex.current(asked),
          request,
          nameIndex.contextAt(clock.now()),
        )
        assert.equal(totals.overall.records, names.length)
        for (const { name } of toConditions(asked.filters)) compared.add(name)
      }
    }),
    { numRuns: propertyRuns(60) },
  )
  assert.deepEqual(opened.reports, [])
  assert.deepEqual([...compared].toSorted(), FILTER_NAMES.toSorted())
})

test('the console knows all filters', async () => {
  // Not by a literal: the types of the console are those of a browser.
  const filtersOfConsole: { readonly FILTER_NAMES: readonly string[] } = await import(
    new URL('../../console/features/filters/filters.ts', import.meta.url).href
  )
  assert.deepEqual(filtersOfConsole.FILTER_NAMES.toSorted(), Object.keys(listParameters).toSorted())
})

/** Filters of imported numbers are named after the keys of these. */
const documentedNames = (name: string) => (name === 'numbers' ? ['num_<key>_min', 'num_<key>_max'] : [name])

/** The tables of some pages: of each row its cells. */
async function getTables(pattern: string): Promise<string[][][]> {
  const tables: string[][][] = []
  for await (const path of glob(pattern, { cwd: root })) {
    const text = await readFile(`${root}/${path}`, 'utf8')
    for (const [table] of text.matchAll(/(?:^\|.*\n)+/gm)) {
      tables.push(
        table
          .trim()
          .split('\n')
          .map((row) => row.slice(1, -1).split(/(?<!\\)\|/)),
      )
    }
  }
  return tables
}

const codeIn = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, code]) => code ?? '')

test('the reference of the API describes all filters', async () => {
  const tables = await getTables('docs/{api.md,api/**/*.md}')
  const parameters = tables
    .map((rows) => rows.flatMap(([first = '']) => codeIn(first)))
    .filter((names) => names.includes('last_deleted') && names.includes('cursor'))
  assert.equal(parameters.length, 1, 'one table with the parameters of `list`')
  const described = parameters[0]?.filter((name) => !['api', 'limit', 'cursor', 'fields'].includes(name))
  assert.deepEqual(described, Object.keys(listParameters).flatMap(documentedNames))
})

test('the console page documents a word for each filter', async () => {
  const tables = await getTables('docs/console.md')
  const codes = tables.map((rows) => rows.flatMap((cells) => codeIn(cells.at(-1) ?? '')))
  const described = codes.find((names) => names.includes('last_deleted')) ?? []
  const worded = Object.keys(listParameters)
    .filter((name) => name !== 'search')
    .flatMap(documentedNames)
  assert.deepEqual(described.toSorted(), worded.toSorted())
})
