import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createAccounts } from '../../src/accounts/index.ts'
import { createTasks } from '../../src/lib/tasks.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import { MAX_PAGE_RECORDS } from '../../src/domainwatch/limits.ts'
import { expectedList, listed, storedRecords } from '../support/expected-lists.ts'
import { DATE, many, openBoth, requestOf, type OpenedBoth } from '../support/lists-both-ways.ts'

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

async function compareAll(opened: OpenedBoth, limits: readonly (number | undefined)[]): Promise<void> {
  let compared = 0
  const records = await storedRecords(opened.database)
  for (const given of REQUESTS) {
    for (const sort of ['asc', 'desc']) {
      for (const limit of limits) {
        const asked = { ...requestOf({ ...given, sort }), limit }
        const { json, count, next } = await opened.fromIndex.page(asked)
        const wanted = expectedList(records, asked, opened.clock.now())
        const isWhole = given['last_register'] !== undefined || given['last_deleted'] !== undefined
        const page = wanted.slice(0, limit ?? (isWhole ? wanted.length : MAX_PAGE_RECORDS))
        const asWhat = JSON.stringify({ ...given, sort, limit })
        // Not by `deepEqual`: the difference of two pages of 200 KB would not help.
        assert.ok(json.toString() === JSON.stringify(page.map(listed)), asWhat)
        assert.equal(next !== undefined, page.length < wanted.length, asWhat)
        compared += count
      }
    }
  }
  assert.ok(compared > 10)
}

test('the index is exact with many records, written in batches before, during and after loading', async () => {
  await using opened = await openBoth(tasks)
  await opened.store(many(12_000))
  opened.nameIndex.start()
  // While it is being read.
  const writes = [opened.store(many(3_000, 'q')), opened.update([{ domain: 'ca0', status: 0 }])]
  await Promise.all(writes)
  await opened.ready()
  await compareAll(opened, [undefined])
  await opened.store(many(4_000, 'w'))
  await opened.store(
    many(12_000).map((one) => ({ ...one, status: 1 - one.status, date_reg: '2025-02-01 00:00:00' })),
  )
  await compareAll(opened, [undefined])
  // Merged by now or while this runs.
  await opened.update(many(5_000).map(({ domain }) => ({ domain, discarded: 1, revision: 1 })))
  opened.clock.advance(7 * 24 * HOUR - 1)
  await compareAll(opened, [7])
  opened.clock.advance(1)
  await compareAll(opened, [7])
  await purgeExpired(opened.database, opened.clock, new AbortController().signal)
  await compareAll(opened, [undefined])
  assert.deepEqual(opened.said, [])
})

test('the prefix of an A-label is also found inside names', async () => {
  await using opened = await openBoth(tasks)
  const plain = many(2_500).filter(({ domain }) => !/[^\0-\x7f]/.test(domain))
  // The one with an A-label is far from the others.
  const given = ['foxn--za', 'foxn--zapato', 'ñandú'].map((domain, i) => {
    return { domain, reserve: 0, status: 1, date_reg: i < 2 ? DATE : '2025-03-01 00:00:00' }
  })
  await opened.store([...plain, ...given])
  await opened.ready()
  for (const [search, wanted] of [
    ['xn--zapato', 1],
    ['xn--z', 2],
    ['xn--', 3],
    ['xn--and-', 1],
    ['xn--zapatos', 0],
  ] as const) {
    const asked = requestOf({ search })
    assert.equal((await opened.fromIndex.page(asked)).count, wanted, search)
    assert.equal((await opened.expected(asked)).length, wanted, search)
  }
})

test('an index that exceeds its memory is disabled, and lists still work', async () => {
  await using opened = await openBoth(tasks, 1_000)
  await opened.store(many(100))
  opened.nameIndex.start()
  assert.match(await opened.left(), /takes more than 1000 bytes/)
  assert.equal(await opened.nameIndex.current(), undefined)
  assert.equal(opened.nameIndex.stats().bytes, 0)
})

test('a record that the index cannot represent disables it', async () => {
  await using opened = await openBoth(tasks)
  await opened.store(many(10))
  await opened.ready()
  await opened.database.transaction((tx) =>
    tx.run(sql`UPDATE domains SET date_reg = 'no date' WHERE name = 'ca0'`),
  )
  assert.match(await opened.left(), /cannot represent/)
  assert.equal(await opened.nameIndex.current(), undefined)
})

test('the index is reloaded when the change log was replaced', async () => {
  await using opened = await openBoth(tasks)
  await opened.store(many(10))
  await opened.ready()
  await opened.database.transaction(async (tx) => {
    await tx.run(sql`UPDATE domains SET status = 1 WHERE name = 'ca0'`)
    await tx.run(sql`UPDATE change_log SET floor = 1000000`)
    await tx.run(sql`DELETE FROM changes`)
  })
  const accounts = createAccounts(opened.database, opened.clock)
  await accounts.createKey('otro', 'domainwatch')
  await opened.store(many(12))
  assert.match(await opened.left(), /reloading the list index/)
  await opened.ready()
  await compareAll(opened, [undefined])
})
