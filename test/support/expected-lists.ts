import {
  withDerived,
  type StoredRecord,
  objectionEnd,
  type FilterContext,
  type FilteredRecord,
} from '../../src/domainwatch/filtered-record.ts'
import { matches } from '../../src/domainwatch/filters.ts'
import type { ListRequest } from '../../src/domainwatch/list/domain-lists.ts'
import { LIST_ORDERS, type ListOrder } from '../../src/domainwatch/list/order.ts'
import { isNumberOrder } from '../../src/lib/name-index/index.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { dictionary, rules } from './random-lists.ts'

type Key = (record: FilteredRecord) => string | number

/** An order that follows from the records alone. */
export type PlainOrder = Exclude<(typeof LIST_ORDERS)[number], 'interest'>
const isPlainOrder = (order: ListOrder): order is PlainOrder => order !== 'interest' && !isNumberOrder(order)
export const PLAIN_ORDERS: readonly PlainOrder[] = LIST_ORDERS.filter((order) => isPlainOrder(order))

const registered: Key = ({ date_reg }) => date_reg
const deleted: Key = ({ deleted_at }) => deleted_at ?? ''

/** What each order sorts by. Bought records follow in the order by deletion, and are sorted by registration. */
const KEYS: Readonly<Record<PlainOrder, Key>> = {
  registered,
  deleted: (record) => record.deleted_at ?? record.date_reg,
  modified: ({ date_mod }) => date_mod,
  name: () => 0,
  length: ({ name }) => name.length,
  objection: registered,
}

const compare = (one: string | number, other: string | number) => (one < other ? -1 : one > other ? 1 : 0)

export function sorted(
  records: readonly FilteredRecord[],
  key: Key,
  ascending: boolean,
  last: Key = () => 0,
): FilteredRecord[] {
  const sign = ascending ? 1 : -1
  return records.toSorted(
    (a, b) => compare(last(a), last(b)) || sign * (compare(key(a), key(b)) || compare(a.name, b.name)),
  )
}

/** All records of the table. */
export async function storedRecords(database: Pick<Database, 'all'>): Promise<FilteredRecord[]> {
  const rows = await database.all<StoredRecord>(sql`
    SELECT name, agent, status, reserved, revision, discarded_at, date_reg, date_reg_known, date_mod, deleted_at, status_at, numbers, seen_at, tags, past_drops
    FROM domains`)
  return rows.map((row) => withDerived(row, dictionary.split, rules.hides))
}

/**
 * What a list contains by its definition, on all its pages: the records that match, sorted. Only the predicates of the filters
 * are those of the service.
 */
export function expectedList(
  records: readonly FilteredRecord[],
  { filters, lastRegister, lastDeleted, order, ascending }: ListRequest,
  context: FilterContext,
): FilteredRecord[] {
  const matching = records.filter((record) => matches(filters, record, context))
  const newest = (status: number, key: Key, count = 0) =>
    sorted(
      matching.filter((record) => record.status === status),
      key,
      false,
    ).slice(0, count)
  const isOfAll = lastRegister === undefined && lastDeleted === undefined
  const listed = isOfAll
    ? matching
    : [...newest(1, registered, lastRegister), ...newest(0, deleted, lastDeleted)]
  const isDeletedAlone = lastRegister === undefined && lastDeleted !== undefined
  if (order !== undefined && isNumberOrder(order)) {
    const numberIn = ({ numbers }: FilteredRecord) =>
      new RegExp(`(?:^| )${order.slice(4)}=(\\S+)`).exec(numbers ?? '')?.[1]
    const lacks: Key = (record) => Number(numberIn(record) === undefined)
    return sorted(
      listed,
      (record) => Number(numberIn(record) ?? Date.parse(record.date_reg)),
      ascending,
      lacks,
    )
  }
  const given = order !== undefined && isPlainOrder(order) ? order : undefined
  const sortedBy = given ?? (isDeletedAlone ? 'deleted' : 'registered')
  return sorted(
    listed,
    KEYS[sortedBy],
    ascending,
    sortedBy === 'deleted'
      ? ({ status }) => status
      : sortedBy === 'objection'
        ? (record) => (objectionEnd(record, context.localNow) === null ? 1 : 0)
        : undefined,
  )
}

/** A record as `list` returns it. */
export function listed({ name, agent, status, reserved, revision, discarded_at, ...dates }: FilteredRecord) {
  const { date_reg, date_mod } = dates
  const discarded = discarded_at === null ? 0 : 1
  return { name, length: name.length, agent, status, reserved, revision, discarded, date_reg, date_mod }
}
