import type { Clock } from '../../lib/clock.ts'
import type { Database, Reader, Transaction } from '../../storage/database/database.ts'
import { storeRows } from '../../storage/database/tables.ts'
import type { RowBatch } from '../import/row-buffer.ts'
import { purgeBeforeWrite } from '../purge.ts'
import { namesRecorded } from '../queries-records.ts'
import { foldSearch } from '../../lib/domain-names.ts'
import {
  DISMISSED,
  dismissedNamed,
  dismissedPage,
  forgetDismissed,
  type DismissedPlace,
  type DismissedRow,
  type DismissedValues,
} from './queries.ts'
import { csvField } from '../export.ts'

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
