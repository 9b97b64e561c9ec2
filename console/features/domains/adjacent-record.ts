import type { Filters } from '../filters/filters.ts'
import type { DomainRecord } from './records.ts'
import { getSort } from './columns.ts'
import { listPages } from '../../api/client.ts'
import { callApi } from '../../api/client.ts'

const PAGE_ROWS = 200
/** Names registered in the same second, as in lists without times, may fill more than a page. */
const MAX_PAGES = 50
const FRESH_MS = 30_000

/** The rows after a record in one direction, cached for further steps. */
interface CachedRows {
  readonly key: string
  readonly at: number
  readonly rows: readonly DomainRecord[]
}

let last: CachedRows | undefined

/** Returns the record after (1) or before (-1) one in a view; undefined at the end. */
export async function adjacentRecord(
  filters: Filters,
  record: DomainRecord,
  by: 1 | -1,
): Promise<DomainRecord | undefined> {
  // Only the order of registration can be entered in the middle, by date and time.
  const isNewest = filters['last_register'] !== undefined || filters['last_deleted'] !== undefined
  const isWalked = isNewest || getSort(filters).column !== 'registered'
  if (isWalked) {
    const rows = await readAll(filters)
    const index = rows.findIndex(({ name }) => name === record.name)
    return index < 0 ? undefined : rows[index + by]
  }
  const isNewer = (by === 1) === (filters['sort'] === 'asc')
  const key = JSON.stringify([filters, isNewer])
  if (last?.key === key && Date.now() - last.at < FRESH_MS) {
    const index = last.rows.findIndex(({ name }) => name === record.name)
    const next = last.rows[index + 1]
    if (index >= 0 && next !== undefined) return next
  }
  const query = isNewer
    ? { ...filters, from: later(getStart(filters['from']), record.date_reg), sort: 'asc' }
    : { ...filters, to: earlier(getEnd(filters['to']), record.date_reg), sort: 'desc' }
  for await (const rows of toPages(query)) {
    // The order of the list: by registration, then by name.
    const index = rows.findIndex((row) => (isNewer ? isAfter(row, record) : isAfter(record, row)))
    if (index < 0) continue
    last = { key, at: Date.now(), rows: rows.slice(index) }
    return rows[index]
  }
  return undefined
}

function isAfter(one: DomainRecord, other: DomainRecord): boolean {
  if (one.date_reg !== other.date_reg) return one.date_reg > other.date_reg
  return one.name > other.name
}

/** A day means its first or last second. */
const getStart = (from: string | undefined) => (from?.length === 10 ? `${from} 00:00:00` : from)
const getEnd = (to: string | undefined) => (to?.length === 10 ? `${to} 23:59:59` : to)
const later = (one: string | undefined, other: string) => (one !== undefined && one > other ? one : other)
const earlier = (one: string | undefined, other: string) => (one !== undefined && one < other ? one : other)

async function readAll(filters: Filters): Promise<readonly DomainRecord[]> {
  const all: DomainRecord[] = []
  for await (const rows of toPages(filters)) all.push(...rows)
  return all
}

async function* toPages(filters: Filters): AsyncGenerator<readonly DomainRecord[]> {
  const fetchPage = (cursor: string | undefined) =>
    callApi('GET /api/v1/domainwatch/list', { query: { ...filters, limit: PAGE_ROWS, cursor } })
  for await (const { data } of listPages(fetchPage, MAX_PAGES)) yield data.data[0] ?? []
}
