import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/server/open-database.ts'
import type { Tasks } from '../../src/lib/tasks.ts'
import {
  DomainLists,
  listParameters,
  listRequest,
  type ListRequest,
} from '../../src/domainwatch/list/domain-lists.ts'
import { countMatches } from '../../src/domainwatch/queue/match-counts.ts'
import type { Filters } from '../../src/domainwatch/filters.ts'
import { countMatching } from '../../src/domainwatch/queries-filters.ts'
import { markDomains, recordDomains } from '../../src/domainwatch/queries-batches.ts'
import { rowValues } from '../../src/storage/database/batch.ts'
import { parseMarks, parseNewRecord } from '../../src/domainwatch/parse-record.ts'
import { NameIndex } from '../../src/domainwatch/list/name-index.ts'
import { parseParameters } from '../../src/http/parameters.ts'
import { databaseFor } from './engine.ts'
import { expectedList, storedRecords } from './expected-lists.ts'
import { dictionary, type Mark } from './random-lists.ts'
import { ManualClock } from './service.ts'

const MIB = 1024 * 1024
const { split } = dictionary

/** A database with lists from it, and others from an index of it. */
export async function openBoth(tasks: Tasks, memory = 64 * MIB) {
  const data = await mkdtemp(join(tmpdir(), 'catalejo-search-'))
  const place = await databaseFor(data)
  const database = await openDatabase({ data, databaseUrl: place.url })
  const clock = new ManualClock('2025-06-01T12:00:00Z')
  const said: string[] = []
  const nameIndex = new NameIndex({
    database,
    tasks,
    dictionary,
    memory,
    report: (message) => said.push(message),
  })
  const store = (given: readonly Wide[], date = '2025-06-01 08:00:00') =>
    database.transaction(async (tx) => {
      const rows = given.map(({ domain, ...fields }) => {
        const record = parseNewRecord({ domain, length: domain.length, ...fields }, split)
        if (!record.ok) throw new Error(record.msg)
        return rowValues(recordDomains, record.row)
      })
      const bytes = Buffer.from(JSON.stringify(rows))
      await tx.runMany(recordDomains, [date, 'grupo', 'grupo'], new Uint8Array(bytes))
    })
  const update = (given: readonly Mark[], date = '2025-06-02 09:10:11') =>
    database.transaction(async (tx) => {
      const rows = given.map((one) => {
        const read = parseMarks(one)
        if (!read.ok) throw new Error(read.msg)
        return rowValues(markDomains, read.row)
      })
      const bytes = Buffer.from(JSON.stringify(rows))
      await tx.runMany(markDomains, [date, clock.now(), clock.now(), 'grupo'], new Uint8Array(bytes))
    })
  async function current() {
    for (;;) {
      const segments = await nameIndex.current()
      if (segments !== undefined) return segments
      assert.deepEqual(said, [])
    }
  }
  return {
    database,
    nameIndex,
    clock,
    said,
    store,
    update,
    /** What a list contains by its definition. */
    expected: async (request: ListRequest) =>
      expectedList(await storedRecords(database), request, clock.now()),
    /** From memory only: waits where the database would be asked meanwhile. */
    fromIndex: {
      ...ofLists(new DomainLists(database, clock, { current })),
      count: async (filters: Filters) => countMatches(await current(), filters, clock.now()),
    },
    fromDatabase: {
      ...ofLists(new DomainLists(database, clock)),
      async count(filters: Filters) {
        const { dialect } = database
        return (await database.first(countMatching(dialect, filters, clock.now())))?.count
      },
    },
    async ready() {
      nameIndex.start()
      for (;;) {
        if ((await nameIndex.current()) !== undefined) return
        assert.deepEqual(said, [])
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    /** Asks until something is said. A list that others' transactions delay is none either, but nothing is said of it. */
    async left(): Promise<string> {
      for (;;) {
        assert.equal(await nameIndex.current(), undefined)
        if (said.length > 0) return said.splice(0).join()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    async [Symbol.asyncDispose]() {
      await nameIndex.close()
      await database.close()
      await rm(data, { recursive: true, force: true })
      await place.drop()
    },
  }
}

/** Pages and rows of lists. */
const ofLists = (lists: DomainLists) => ({
  page: (request: ListRequest) => lists.page(request),
  rows: (request: ListRequest) => lists.rows(request),
})

export type OpenedBoth = Awaited<ReturnType<typeof openBoth>>

interface Wide {
  readonly domain: string
  readonly reserve: number
  readonly status: number
  readonly date_reg: string
  readonly agent?: string | undefined
}

/** Enough of them that there are several chunks, merges, and blocks that an index of characters leaves out. */
export function many(count: number, prefix = ''): Wide[] {
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
      parseNewRecord({ domain, length: domain.length, reserve: 0, status: 1, date_reg: DATE }, split).ok,
  )
}

export const DATE = '2025-01-01 00:00:00'

export function requestOf(given: Readonly<Record<string, string>>): ListRequest {
  const parsed = parseParameters(listParameters, given)
  assert.ok(parsed.ok)
  return listRequest(parsed.values)
}
