import { isOneOf, type Dialect } from '../../storage/database/dialect.ts'
import { allOf, limit, raw, sql, type Sql } from '../../storage/database/sql.ts'
import type { Table } from '../../storage/database/tables.ts'
import type { Facts } from '../registry/rules.ts'

/** Names whose discarded records were removed, and what was known of them. A trigger writes them. */
export const DISMISSED = {
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

/** A dismissed name as an import reads it: the columns of the table. */
export type DismissedValues = readonly [
  name: string,
  dismissedBy: string | null,
  dismissedAt: number,
  ...(string | number | null)[],
]

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
export function dismissedPage(
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

export const forgetDismissed = (dialect: Dialect, names: readonly string[]) => sql`
  DELETE FROM dismissed WHERE ${isOneOf(dialect, sql`name`, names)}`
