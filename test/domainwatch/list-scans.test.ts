import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTasks } from '../../src/lib/tasks.ts'
import type { Database, Reader } from '../../src/storage/database/database.ts'
import { DomainLists } from '../../src/domainwatch/list/domain-lists.ts'
import { sql, type Query } from '../../src/storage/database/sql.ts'
import { many, openBoth, requestOf } from '../support/lists-both-ways.ts'

const tasks = createTasks(1)
after(() => tasks.close())

/** The database, with a count of the reads by its scanner. */
function countScans(database: Database) {
  const scans = { count: 0, database: { ...database, scannerOf: () => scanner } }
  const scanner: Reader = {
    ...database.scanner,
    values: (query) => {
      scans.count++
      return database.scanner.values(query)
    },
  }
  return scans
}

test('a list that may visit many records does not delay other requests', async () => {
  await using opened = await openBoth(tasks)
  const { database, clock } = opened
  await opened.store(many(2_500))
  const scans = countScans(database)
  const lists = new DomainLists(scans.database, clock)
  const isScan = async (given: Readonly<Record<string, string>>) => {
    scans.count = 0
    await lists.page({ ...requestOf(given), limit: 5 })
    return scans.count > 0
  }
  for (const given of [
    {},
    { rev: '' },
    { reserve: '' },
    { status: '0' },
    { last_deleted: '3' },
    { from: '2025-01-01' },
  ])
    assert.equal(await isScan(given), false, JSON.stringify(given))
  for (const given of [
    { length: '9' },
    { rev: '', status: '0' },
    { reserve: '', rev: '' },
    { dis: '', last_deleted: '3' },
    { reserve: '', last_register: '3' },
  ])
    assert.equal(await isScan(given), true, JSON.stringify(given))
})

test('a forged range of everything is not sorted where it holds others up', async () => {
  await using opened = await openBoth(tasks)
  const { database, clock, nameIndex } = opened
  await opened.store(many(5_500))
  await opened.ready()
  const scans = countScans(database)
  const lists = new DomainLists(scans.database, clock, nameIndex)
  const [newest] = (await lists.pageNames({ ...requestOf({}), limit: 1 })).names
  const end = { key: '9999-12-31 23:59:59', name: 'z' }
  const scansOf = async (low: string) => {
    scans.count = 0
    const range = { low: { key: low, name: 'a' }, high: end }
    const cursor = { after: end, registered: range }
    const { names } = await lists.pageNames({ ...requestOf({ last_register: '2' }), limit: 1, cursor })
    assert.deepEqual(names, [newest])
    return scans.count
  }
  assert.equal(await scansOf('2025-01-28 00:00:00'), 0)
  assert.equal(await scansOf('0001-01-01 00:00:00'), 1)
})

/** A scanner that notes what it is asked. */
function recordReads({ scanner }: Database) {
  const read: Query[] = []
  const noted = <T extends Query>(query: T): T => {
    read.push(query)
    return query
  }
  const recorder: Reader = {
    all: (query) => scanner.all(noted(query)),
    first: (query) => scanner.first(noted(query)),
    values: (query) => scanner.values(noted(query)),
  }
  return { read, recorder }
}

test('an export in an order without an index reads the table in stretches', async (context) => {
  await using opened = await openBoth(tasks)
  const { database, clock } = opened
  if (!database.dialect.plansAsWritten) return context.skip('PostgreSQL has statistics')
  await opened.store(many(26_000))
  const { read, recorder } = recordReads(database)
  const lists = new DomainLists({ ...database, scannerOf: () => recorder }, clock)
  for (const order of ['modified', 'length'])
    for (const filters of [{}, { tag: 'ninguna' }, { status: '1' }, { reserve: '' }]) {
      for await (const _ of lists.rows(requestOf({ ...filters, order })));
      let stretches = 0
      for (const query of read.splice(0)) {
        const plan = (await database.scanner.values(sql`EXPLAIN QUERY PLAN ${query}`)).map((step) =>
          String(step[3]),
        )
        const [table] = plan.filter((step) => / domains /.test(`${step} `))
        assert.match(table ?? '', /\(name[=>]\?|^SCAN domains$/, query.sql)
        if (table === 'SCAN domains') assert.match(query.sql, /LIMIT 1 OFFSET/)
        if (/string_agg/.test(query.sql)) stretches++
      }
      assert.equal(stretches, 2, JSON.stringify({ order, ...filters }))
    }
})

const END = { key: '9999-12-31 23:59:59', name: 'z' }
const EVERYTHING = { low: { key: '0001-01-01 00:00:00', name: 'a' }, high: END }
const FORGED = { registered: EVERYTHING, deleted: EVERYTHING }

test('no list or export fetches most of the table row by row in one statement', async (context) => {
  await using opened = await openBoth(tasks)
  const { database, clock } = opened
  if (!database.dialect.plansAsWritten) return context.skip('PostgreSQL has statistics')
  await opened.store(many(26_000))
  const { read, recorder } = recordReads(database)
  const lists = new DomainLists({ ...database, scannerOf: () => recorder }, clock)
  /** Statements that fetch rows by an index of dates, without a limited stretch of it. */
  async function slow() {
    const found: string[] = []
    for (const query of read.splice(0)) {
      const steps = (await database.scanner.values(sql`EXPLAIN QUERY PLAN ${query}`)).map((step) =>
        String(step[3]),
      )
      const isLimited = /LIMIT CAST\(\? AS INTEGER\)\s*\) AS (near|candidates)/.test(query.sql)
      const byDate = steps.filter((step) => /USING INDEX domains_by_/.test(step))
      if (!isLimited) found.push(...byDate)
    }
    return found
  }
  const sparse = { tag: 'ninguna' }
  for (const filters of [
    sparse,
    { from: '2020-01-01' },
    { from: '2020-01-01', ...sparse },
    { status: '1' },
  ]) {
    for (const order of ['registered', 'deleted', 'modified', 'name', 'length']) {
      const given = { ...filters, order }
      const what = JSON.stringify(given)
      if ('tag' in filters) {
        await lists.page({ ...requestOf(given), limit: 5 })
        assert.deepEqual(await slow(), [], what)
        await lists.page({ ...requestOf({ ...given, last_register: '9', last_deleted: '9' }), limit: 5 })
        assert.deepEqual(await slow(), [], `${what}, newest`)
      }
      const key = { name: '', length: '99' }[order] ?? END.key
      const stages = {
        registered: undefined,
        deleted: 'deleted',
        modified: 'modified',
        name: 'name',
        length: 'length',
      } as const
      const stage = Object.entries(stages).find(([name]) => name === order)?.[1]
      const cursor = { after: { key, name: 'z' }, stage, ...FORGED }
      await lists.page({ ...requestOf({ ...given, last_register: '9' }), limit: 5, cursor })
      assert.deepEqual(await slow(), [], `${what}, forged`)
      for await (const _ of lists.rows(requestOf(given))) break
      if (order === 'modified' || order === 'length') assert.deepEqual(await slow(), [], `${what}, export`)
      else
        assert.ok(
          read.splice(0).some((query) => /OFFSET/.test(query.sql)),
          `${what}, export`,
        )
    }
  }
})
