import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/storage/database/open.ts'
import { Gate } from '../../src/lib/gate.ts'
import { POOLS } from '../../src/lib/limits.ts'
import type { Tasks } from '../../src/lib/tasks.ts'
import {
  DomainLists,
  listParameters,
  listRequest,
  type ListRequest,
} from '../../src/domainwatch/list/domain-lists.ts'
import { markDomains, recordDomains } from '../../src/domainwatch/queries-batches.ts'
import { rowValues } from '../../src/storage/database/batch.ts'
import { parseMarks, parseNewRecord } from '../../src/domainwatch/parse-record.ts'
import { Interest } from '../../src/domainwatch/interest/index.ts'
import { NameIndex } from '../../src/domainwatch/list/name-index.ts'
import { compileParameters } from '../../src/http/parameters.ts'
import { databaseFor } from './engine.ts'
import { expectedList, storedRecords } from './expected-lists.ts'
import { plainContext } from './plain-signals.ts'
import { storeNumbers } from '../../src/domainwatch/queries-numbers.ts'
import { dictionary, NUMBERS, rules, type Mark } from './random-lists.ts'
import { ManualClock } from './service.ts'

const { split } = dictionary
const ACCOUNT = 1

/** A database, and lists from an index of it, without a service. */
export async function openLists(tasks: Tasks) {
  const data = await mkdtemp(join(tmpdir(), 'catalejo-search-'))
  const place = await databaseFor(data)
  const database = await openDatabase({ data, databaseUrl: place.url })
  await database.transaction((tx) => storeNumbers(database, tx, { names: [], json: JSON.stringify(NUMBERS) }))
  const clock = new ManualClock('2025-06-01T12:00:00Z')
  const reports: string[] = []
  const nameIndex = new NameIndex({
    database,
    tasks,
    dictionary,
    timeZone: 'UTC',
    rules: { current: async () => rules },
    report: (message, detail) => reports.push(`${message} ${JSON.stringify(detail)}`),
  })
  const interest = new Interest({ database, clock, tasks, nameIndex, dictionary })
  const lists = new DomainLists(clock, nameIndex, interest, new Gate(POOLS.searches))
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
  return {
    database,
    nameIndex,
    clock,
    /** What the index reported. */
    reports,
    store,
    update,
    /** What a list contains by its definition. */
    async expected(request: ListRequest) {
      const records = await storedRecords(database)
      return expectedList(records, request, plainContext(clock.now(), 'UTC', records))
    },
    page: (request: ListRequest) => lists.page(request),
    /** The names of a list that is read whole. */
    async exported(request: ListRequest): Promise<string[]> {
      const names: string[] = []
      for await (const part of lists.whole(request, ACCOUNT, new AbortController().signal))
        names.push(...part.map(({ name }) => name))
      return names
    },
    async [Symbol.asyncDispose]() {
      nameIndex.close()
      await database.close()
      await rm(data, { recursive: true, force: true })
      await place.drop()
    },
  }
}

export type OpenedLists = Awaited<ReturnType<typeof openLists>>

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

const parse = compileParameters(listParameters)

export function getRequest(given: Readonly<Record<string, string>>): ListRequest {
  const parsed = parse(given)
  assert.ok(parsed.ok)
  return listRequest(parsed.values)
}
