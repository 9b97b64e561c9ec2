import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTasks } from '../../src/lib/tasks.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import { MAX_PAGE_RECORDS } from '../../src/domainwatch/limits.ts'
import { expectedList, listed, storedRecords } from '../support/expected-lists.ts'
import { DATE, many, openLists, getRequest, type OpenedLists } from '../support/open-lists.ts'
import { plainContext } from '../support/plain-signals.ts'

const HOUR = 3_600_000

const tasks = createTasks(2)
after(() => tasks.close())

const REQUESTS: readonly Record<string, string>[] = [
  {},
  { search: 'c' },
  { search: 'ñi' },
  { search: 'za' },
  { search: 'casa' },
  { search: 'casalo' },
  { search: 'ñixtúri' },
  { search: 'zzzz' },
  { search: 'calocalocasa' },
  { search: 'xn--', digits: '1' },
  { search: 'xn--cas' },
  { search: 'casa', agent: '' },
  { search: 'águi', agent: '', status: '0' },
  { search: 'sa', length: '9', reserve: '' },
  { starts: 'lo', ends: '7' },
  { starts: 'x' },
  { ends: 'z9' },
  { pattern: 'ca*lo?1*' },
  { pattern: '??????' },
  { pattern: '*ca*lo*7' },
  { pattern: '*lo?1*' },
  { pattern: '?a?a*' },
  { pattern: '*ñ?x*', digits: '1' },
  { pattern: '*s*l*1*7*', min_length: '14' },
  { pattern: '*o*a*i*' },
  { pattern: 'lo*a*?r*a*' },
  { min_length: '24', search: 'o' },
  { max_length: '24', search: 'sari' },
  { min_length: '25', max_length: '30' },
  { length: '25' },
  { search: 'calo', digits: '0', hyphen: '0', status: '1', max_length: '12' },
  { search: 'sa', starts: 'lo', ends: '3', reserve: '' },
  { from: '2025-01-03', to: '2025-01-04 00:00:05', search: 'lo' },
  { last_register: '900', search: 'sa' },
  { last_deleted: '40', search: 'ri', from: '2025-01-20' },
  { last_deleted: '1024', last_register: '1024', hyphen: '1' },
  { dis: '' },
  { rev: '', min_length: '12' },
]

let rounds = 0

async function compareAll(opened: OpenedLists, limit?: number): Promise<void> {
  let compared = 0
  const records = await storedRecords(opened.database)
  const context = plainContext(opened.clock.now(), 'UTC', records)
  // Every second request in turn, in another direction than the last time.
  rounds++
  for (const [i, given] of REQUESTS.entries()) {
    if ((i + rounds) % 2 === 0) continue
    const sort = ((i >> 1) + (rounds >> 1)) % 2 === 0 ? 'asc' : 'desc'
    const asked = { ...getRequest({ ...given, sort }), limit }
    const { json, count, next } = await opened.page(asked)
    const wanted = expectedList(records, asked, context)
    const isWhole = given['last_register'] !== undefined || given['last_deleted'] !== undefined
    const page = wanted.slice(0, limit ?? (isWhole ? wanted.length : MAX_PAGE_RECORDS))
    const asWhat = JSON.stringify({ ...given, sort, limit })
    // Not by `deepEqual`: the difference of two pages of 200 KB would not help.
    assert.ok(json.toString() === JSON.stringify(page.map(listed)), asWhat)
    assert.equal(next !== undefined, page.length < wanted.length, asWhat)
    compared += count
  }
  assert.ok(compared > 10)
}

test('the index is exact with many records, written in batches before, during and after loading', async () => {
  await using opened = await openLists(tasks)
  // Enough that a segment is rewritten when most of them have changed.
  const first = many(10_500)
  await opened.store(first)
  const loading = opened.nameIndex.load()
  // While it is being read.
  const writes = [opened.store(many(1_000, 'q')), opened.update([{ domain: 'ca0', status: 0 }])]
  await Promise.all([loading, ...writes])
  await compareAll(opened)
  await opened.store(many(2_000, 'w'))
  await opened.store(
    first.map((one) => ({ ...one, status: 1 - one.status, date_reg: '2025-02-01 00:00:00' })),
  )
  await compareAll(opened)
  // Merged by now or while this runs.
  await opened.update(first.slice(0, 2_000).map(({ domain }) => ({ domain, discarded: 1, revision: 1 })))
  opened.clock.advance(7 * 24 * HOUR - 1)
  await compareAll(opened, 7)
  opened.clock.advance(1)
  await compareAll(opened, 7)
  await purgeExpired(opened.database, opened.clock, new AbortController().signal)
  await compareAll(opened)
  assert.deepEqual(opened.reports, [])
})

test('the prefix of an A-label is also found inside names', async () => {
  await using opened = await openLists(tasks)
  const plain = many(2_500).filter(({ domain }) => !/[^\0-\x7f]/.test(domain))
  // The one with an A-label is far from the others.
  const given = ['foxn--za', 'foxn--zapato', 'ñandú'].map((domain, i) => {
    return { domain, reserve: 0, status: 1, date_reg: i < 2 ? DATE : '2025-03-01 00:00:00' }
  })
  await opened.store([...plain, ...given])
  await opened.nameIndex.load()
  for (const [search, wanted] of [
    ['xn--zapato', 1],
    ['xn--z', 2],
    ['xn--', 3],
    ['xn--and-', 1],
    ['xn--zapatos', 0],
  ] as const) {
    const asked = getRequest({ search })
    assert.equal((await opened.page(asked)).count, wanted, search)
    assert.equal((await opened.expected(asked)).length, wanted, search)
  }
})

test('a record that the index cannot hold is left out and reported, and others are listed', async () => {
  await using opened = await openLists(tasks)
  const { database, reports } = opened
  const run = (statement: ReturnType<typeof sql>) => database.transaction((tx) => tx.run(statement))
  await opened.store(many(10))
  await opened.nameIndex.load()
  const listed = async () => (await opened.page(getRequest({}))).count
  assert.equal(await listed(), 10)
  await run(sql`UPDATE domains SET date_reg = 'no date' WHERE name = 'ca0'`)
  assert.equal(await listed(), 9)
  const report = 'lists leave out records that the service did not write {"count":1,"names":["ca0"]}'
  assert.deepEqual(reports.splice(0), [report])
  await run(sql`UPDATE domains SET date_reg = ${DATE} WHERE name = 'ca0'`)
  assert.equal(await listed(), 10)
  await run(sql`INSERT INTO domains (name, length, agent, agent_folded, status, reserved, date_reg, date_mod)
    SELECT 'CA0', length, agent, agent_folded, status, reserved, date_reg, date_mod FROM domains WHERE name = 'ca0'`)
  assert.equal(await listed(), 10)
  assert.deepEqual(reports, [report.replace('ca0', 'CA0')])
})

test('the index is reloaded when the database was replaced by another state', async () => {
  await using opened = await openLists(tasks)
  await opened.store(many(10))
  await opened.nameIndex.load()
  await opened.database.transaction(async (tx) => {
    await tx.run(sql`UPDATE domains SET status = 1 WHERE name = 'ca0'`)
    await tx.run(sql`DELETE FROM changes WHERE id < (SELECT max(id) FROM changes)`)
    await tx.run(sql`UPDATE change_log SET epoch = 'ffffffffffff'`)
  })
  await opened.store(many(12))
  await compareAll(opened)
  assert.deepEqual(opened.reports, ['reloading the list index: the change log was replaced {}'])
})
