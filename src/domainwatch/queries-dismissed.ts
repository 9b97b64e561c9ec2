import { isOneOf, type Dialect } from '../storage/database/dialect.ts'
import { allOf, limit, raw, sql, type Sql } from '../storage/database/sql.ts'
import { type Table, storeRows } from '../storage/database/tables.ts'
import type { Facts } from './registry/rules.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database, Reader, Transaction } from '../storage/database/database.ts'
import type { RowBatch } from './import/writer.ts'
import { purgeBeforeWrite } from './purge.ts'
import { namesRecorded } from './queries-records.ts'
import { foldSearch } from '../lib/domain-names.ts'
import { csvField } from './export.ts'
import type { DismissedValues } from './parse-record.ts'

/** Names whose discarded records were removed, and what was known of them. A trigger writes them. */
const DISMISSED = {
  name: 'dismissed',
  key: ['name'],
  columns: {
    name: 'text',
    dismissed_by: 'text',
    dismissed_at: 'integer',
    status: 'integer',
    date_reg: 'text',
    date_reg_known: 'integer',
    released_at: 'text',
    deleted_after: 'text',
    past_drops: 'integer',
  },
} as const satisfies Table

export interface DismissedRow extends Facts {
  readonly name: string
  /** The account that discarded the record; null if that is not known any more. */
  readonly dismissed_by: string | null
  readonly dismissed_at: number
}

const COLUMNS = raw(Object.keys(DISMISSED.columns).join(', '))

export const dismissedNamed = (dialect: Dialect, names: readonly string[]) => sql<DismissedRow>`
  SELECT ${COLUMNS} FROM dismissed WHERE ${isOneOf(dialect, sql`name`, names)}`

/** When a dismissed name was deleted; null if it was bought. */
export const getDeletion = ({ status, date_reg, released_at }: DismissedRow): string | null =>
  status === 0 ? (released_at ?? date_reg) : null

/** The place of a name in the order of pages. */
export type DismissedPlace = Pick<DismissedRow, 'dismissed_at' | 'name'>

/**
 * A page of dismissed names, those dismissed last first.
 * @param texts that a name must contain, all of them
 * @param after the last name of the page before
 */
function dismissedPage(
  dialect: Dialect,
  texts: readonly string[],
  after: DismissedPlace | undefined,
  count: number,
) {
  const conditions: Sql[] = texts.map((text) => dialect.contains(sql`name`, text))
  if (after !== undefined) conditions.push(sql`(dismissed_at, name) < (${after.dismissed_at}, ${after.name})`)
  return sql<DismissedRow>`
    SELECT ${COLUMNS} FROM dismissed WHERE ${allOf(conditions)} ORDER BY dismissed_at DESC, name DESC ${limit(count)}`
}

const forgetDismissed = (dialect: Dialect, names: readonly string[]) => sql`
  DELETE FROM dismissed WHERE ${isOneOf(dialect, sql`name`, names)}`

/** Returns a page of dismissed names that contain the words of a text, those dismissed last first. */
export function readDismissed(
  { dialect }: Database,
  reader: Reader,
  search: string,
  after: DismissedPlace | undefined,
  count: number,
): Promise<DismissedRow[]> {
  const texts = search.split(' ').map((word) => foldSearch(word).text)
  return reader.all(
    dismissedPage(
      dialect,
      texts.filter((text) => text !== ''),
      after,
      count,
    ),
  )
}

/** Forgets that names were dismissed: lists of the registry record them again. @returns how many were */
export function forgetNames(database: Database, clock: Clock, names: readonly string[]): Promise<number> {
  return database.transaction(async (tx) => {
    await purgeBeforeWrite(tx, database.dialect, clock.now(), () =>
      JSON.stringify(names.map((name) => [name])),
    )
    return tx.run(forgetDismissed(database.dialect, names))
  })
}

/** Restores dismissed names, unless they are recorded or were dismissed again since. @returns how many */
export async function restoreDismissed(
  { dialect }: Database,
  tx: Transaction,
  { names, json }: RowBatch,
): Promise<number> {
  const isRecorded = new Set((await tx.all(namesRecorded(dialect, names))).map(({ name }) => name))
  const known = await tx.all(dismissedNamed(dialect, names))
  const dismissedAt = new Map(known.map((row) => [row.name, row.dismissed_at]))
  const given: readonly DismissedValues[] = JSON.parse(json)
  const rows = given.filter(
    ([name, , at]) => !isRecorded.has(name) && at > (dismissedAt.get(name) ?? -Infinity),
  )
  if (rows.length > 0) await storeRows(tx, dialect, DISMISSED, rows)
  return rows.length
}

/** Columns of `catalejo dismissed list`. `deleted_at` is the last deletion, also of a name that was bought again. */
export const DISMISSED_FIELDS = [
  'name',
  'dismissed_by',
  'dismissed_at',
  'status',
  'date_reg',
  'date_reg_known',
  'deleted_at',
  'deleted_after',
  'past_drops',
] as const

export function dismissedLine({ released_at, dismissed_at, ...row }: DismissedRow): string {
  const values = { ...row, deleted_at: released_at, dismissed_at: new Date(dismissed_at).toISOString() }
  return toLine(DISMISSED_FIELDS.map((field) => csvField(values[field])))
}

export const DISMISSED_HEAD = toLine(DISMISSED_FIELDS)

function toLine(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`
}
