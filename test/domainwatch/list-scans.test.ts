import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTasks } from '../../src/lib/tasks.ts'
import type { Database, Reader } from '../../src/storage/database/database.ts'
import { DomainLists } from '../../src/domainwatch/list/domain-lists.ts'
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
