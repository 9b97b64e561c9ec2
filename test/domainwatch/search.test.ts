import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { createAccounts } from '../../src/accounts/index.ts'
import { openDatabase } from '../../src/context.ts'
import { createTasks } from '../../src/core/tasks.ts'
import { sql } from '../../src/database/sql.ts'
import { filterParameters, listRequest } from '../../src/domainwatch/filters.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import { decodeCursor } from '../../src/domainwatch/cursor.ts'
import { DomainLists, type ListRequest } from '../../src/domainwatch/list.ts'
import { markDomains, recordDomains } from '../../src/domainwatch/queries-batches.ts'
import { readMarks, readNewRecord } from '../../src/domainwatch/records.ts'
import { Catalogue } from '../../src/domainwatch/search/catalogue.ts'
import { parseParameters } from '../../src/http/parameters.ts'
import { databaseFor } from '../support/engine.ts'
import { filters, mark, newRecord, type Mark, type NewRecord } from '../support/random-lists.ts'
import { ManualClock } from '../support/service.ts'

const MIB = 1024 * 1024
const HOUR = 3_600_000

const tasks = createTasks(2)
after(() => tasks.close())

/** A database with lists from it, and others from an index of it. */
async function open(memory = 64 * MIB) {
  const data = await mkdtemp(join(tmpdir(), 'catalejo-search-'))
  const place = await databaseFor(data)
  const database = await openDatabase({ data, databaseUrl: place.url })
  const clock = new ManualClock('2025-06-01T12:00:00Z')
  const said: string[] = []
  const catalogue = new Catalogue({
    database,
    tasks,
    memory,
    prepare: async () => {},
    report: (message) => said.push(message),
  })
  const store = (given: readonly Wide[]) =>
    database.transaction(async (tx) => {
      const rows = given.map(({ domain, ...fields }) => {
        const record = readNewRecord({ domain, length: domain.length, ...fields })
        if (!record.ok) throw new Error(record.msg)
        return record.row
      })
      const bytes = Buffer.from(JSON.stringify(rows))
      await tx.runMany(recordDomains, ['2025-06-01 08:00:00', 'grupo', 'grupo'], new Uint8Array(bytes))
    })
  const update = (given: readonly Mark[]) =>
    database.transaction(async (tx) => {
      const rows = given.map((one) => {
        const read = readMarks(one)
        if (!read.ok) throw new Error(read.msg)
        return read.row
      })
      const bytes = Buffer.from(JSON.stringify(rows))
      await tx.runMany(markDomains, ['2025-06-02 09:10:11', clock.now()], new Uint8Array(bytes))
    })
  return {
    database,
    catalogue,
    clock,
    said,
    store,
    update,
    /** From memory only: waits where the database would be asked meanwhile. */
    fromIndex: new DomainLists(database, clock, {
      atHand: () => catalogue.atHand(),
      async current() {
        for (;;) {
          const shelves = await catalogue.current()
          if (shelves !== undefined) return shelves
          assert.deepEqual(said, [])
        }
      },
    }),
    fromDatabase: new DomainLists(database, clock),
    async ready() {
      catalogue.start()
      for (;;) {
        if ((await catalogue.current()) !== undefined) return
        assert.deepEqual(said, [])
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    async [Symbol.asyncDispose]() {
      await catalogue.close()
      await database.close()
      await rm(data, { recursive: true, force: true })
      await place.drop()
    },
  }
}
type Opened = Awaited<ReturnType<typeof open>>

const request = fc
  .record({
    filters,
    more: fc.record(
      {
        last_register: fc.integer({ min: 1, max: 12 }),
        last_deleted: fc.integer({ min: 1, max: 12 }),
        sort: fc.constantFrom('asc', 'desc'),
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
async function walkBoth({ fromIndex, fromDatabase }: Opened, asked: ListRequest): Promise<number> {
  let count = 0
  let cursor: ListRequest['cursor']
  for (;;) {
    const one = await fromIndex.page({ ...asked, cursor })
    const other = await fromDatabase.page({ ...asked, cursor })
    assert.deepEqual({ ...one, json: one.json.toString() }, { ...other, json: other.json.toString() })
    count += one.count
    if (one.next === undefined) return count
    cursor = decodeCursor(one.next)
  }
}

test('lists from the index are those of the database, whatever is written', async () => {
  await using opened = await open()
  await opened.store(fc.sample(newRecord, { numRuns: 200, seed: 7 }).filter(firstOfName()))
  await opened.ready()
  let listed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(newRecord, { maxLength: 20, selector: ({ domain }) => domain }),
      fc.uniqueArray(mark, { maxLength: 60, selector: ({ domain }) => domain }),
      fc.integer({ min: 0, max: 60 }),
      fc.boolean(),
      fc.array(request, { minLength: 8, maxLength: 8 }),
      async (added, marks, hours, purge, requests) => {
        await opened.store(added)
        await opened.update(marks)
        opened.clock.advance(hours * HOUR)
        if (purge) await purgeExpired(opened.database, opened.clock, new AbortController().signal)
        for (const asked of requests) listed += await walkBoth(opened, asked)
      },
    ),
    { numRuns: 40 },
  )
  assert.deepEqual(opened.said, [])
  assert.ok(listed > 1_000, `only ${listed} records compared`)
})

function firstOfName() {
  const seen = new Set<string>()
  return ({ domain }: NewRecord) => !seen.has(domain) && seen.add(domain).size > 0
}

interface Wide {
  readonly domain: string
  readonly reserve: number
  readonly status: number
  readonly date_reg: string
  readonly agent?: string | undefined
}

/** Enough of them that there are several chunks, merges, and blocks that an index of characters leaves out. */
function many(count: number, prefix = ''): Wide[] {
  const syllables = ['ca', 'sa', 'lo', 'ñi', 'mi-', 'x', '9', 'tú', 'ri', 'za']
  return Array.from({ length: count }, (_, i) => {
    const digits = [...String(i * 7_919)].map((digit) => syllables[Number(digit)] ?? '')
    return {
      domain: `${prefix}${digits.join('')}${i}`.slice(0, 63),
      reserve: i % 50 === 0 ? 1 : 0,
      status: i % 5 === 0 ? 0 : 1,
      date_reg: `2025-01-${String((i % 28) + 1).padStart(2, '0')} 00:00:0${i % 10}`,
      agent: i % 9 === 0 ? 'Águila' : undefined,
    }
  }).filter(
    ({ domain }) =>
      readNewRecord({ domain, length: domain.length, reserve: 0, status: 1, date_reg: DATE }).ok,
  )
}
const DATE = '2025-01-01 00:00:00'

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

function requestOf(given: Readonly<Record<string, string>>): ListRequest {
  const parsed = parseParameters(filterParameters, given)
  assert.ok(parsed.ok)
  return listRequest(parsed.values)
}

async function compareAll(opened: Opened, limits: readonly (number | undefined)[]): Promise<void> {
  let compared = 0
  for (const given of REQUESTS) {
    for (const sort of ['asc', 'desc']) {
      for (const limit of limits) {
        const asked = { ...requestOf({ ...given, sort }), limit }
        const one = await opened.fromIndex.page(asked)
        const other = await opened.fromDatabase.page(asked)
        const asWhat = JSON.stringify({ ...given, sort, limit })
        // Not as texts: the difference of two pages of 200 KB is no help.
        assert.ok(one.json.equals(other.json), asWhat)
        compared += one.count
        assert.equal(one.next, other.next)
      }
    }
  }
  assert.ok(compared > 10)
}

test('the same with many records, written in large batches before, while and after they are read', async () => {
  await using opened = await open()
  await opened.store(many(12_000))
  opened.catalogue.start()
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

test('what begins an A-label is found in the middle of names too', async () => {
  await using opened = await open()
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
    const [one, other] = [await opened.fromIndex.page(asked), await opened.fromDatabase.page(asked)]
    assert.equal(one.json.toString(), other.json.toString())
    assert.equal(one.count, wanted, search)
  }
})

test('an index that would take too much memory is left, and lists go on', async () => {
  await using opened = await open(1_000)
  await opened.store(many(100))
  opened.catalogue.start()
  while (opened.said.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.match(opened.said.join(), /takes more than 1000 bytes/)
  assert.equal(await opened.catalogue.current(), undefined)
  assert.equal(opened.catalogue.stats().bytes, 0)
})

test('a record that the index cannot hold switches it off', async () => {
  await using opened = await open()
  await opened.store(many(10))
  await opened.ready()
  await opened.database.transaction((tx) =>
    tx.run(sql`UPDATE domains SET date_reg = 'no date' WHERE name = 'ca0'`),
  )
  assert.equal(await opened.catalogue.current(), undefined)
  assert.match(opened.said.join(), /cannot hold/)
})

test('when the log of changes goes on elsewhere, the records are read anew', async () => {
  await using opened = await open()
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
  assert.equal(await opened.catalogue.current(), undefined)
  assert.match(opened.said.join(), /read anew/)
  opened.said.length = 0
  await opened.ready()
  await compareAll(opened, [undefined])
})
