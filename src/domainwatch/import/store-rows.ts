import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { BatchStatement } from '../../storage/database/batch.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { purgeBeforeWrite } from '../purge.ts'
import { namesRecorded, noteAdd } from '../queries-records.ts'
import * as statements from '../queries-batches.ts'
import type { ImportFormat } from './format.ts'
import type { RowBatch } from './row-buffer.ts'
import type { StoreRows } from './writer.ts'

export const STATEMENTS: Readonly<Record<ImportFormat, BatchStatement>> = {
  registrations: statements.recordRegistrations,
  deletions: statements.recordDeletions,
  csv: statements.restoreDomains,
  ndjson: statements.restoreDomains,
}

export interface ImportTarget {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  /** The author of the changes, and the agent of new records of the registry's lists. */
  readonly account: { readonly id: number; readonly name: string }
  /** Called in each transaction after its rows are stored, with the number of records added or changed. */
  readonly stored?: (tx: Transaction, changed: number) => Promise<void>
}

/** Returns what stores rows, each batch in one transaction. */
export function storeRows(target: ImportTarget): StoreRows {
  const { database, account } = target
  return async (batch) => {
    let began = 0
    const store = async (tx: Transaction) => {
      began = performance.now()
      const count = await storeIn(tx, target, batch)
      await target.stored?.(tx, count)
      return count
    }
    const changed = await database.transaction(store, account.id, { rows: batch.names.length })
    return { changed, heldMs: performance.now() - began }
  }
}

export interface DryRun {
  readonly store: StoreRows
  /** Names so far that are not recorded yet. */
  readonly added: () => number
}

/** Returns what stores rows and rolls back, so that a dry run counts exactly what a real one would. */
export function dryRunRows(target: ImportTarget): DryRun {
  const { database, account } = target
  /** Thrown in a transaction to roll it back. */
  const rollBack = new Error('dry run')
  let added = 0
  return {
    async store(batch) {
      const { names } = batch
      let [began, recorded, changed] = [0, 0, 0]
      const store = async (tx: Transaction) => {
        began = performance.now()
        await purgeBeforeWrite(tx, database.dialect, target.clock.now(), () => batch.json)
        recorded = (await tx.all(namesRecorded(database.dialect, names))).length
        changed = await storeIn(tx, target, batch)
        throw rollBack
      }
      await database.transaction(store, account.id).catch((error: unknown) => {
        if (error !== rollBack) throw error
      })
      added += names.length - recorded
      return { changed, heldMs: performance.now() - began }
    },
    added: () => added,
  }
}

async function storeIn(
  tx: Transaction,
  { database, clock, timeZone, account }: ImportTarget,
  { format, json }: RowBatch,
): Promise<number> {
  const now = clock.now()
  await purgeBeforeWrite(tx, database.dialect, now, () => json)
  const statement = STATEMENTS[format]
  const constants =
    statement === statements.restoreDomains
      ? []
      : [localDateTime(now, timeZone), account.name, account.name.toLowerCase()]
  const changed = await tx.runMany(statement, constants, new Uint8Array(Buffer.from(json)))
  if (statement !== statements.restoreDomains) await tx.run(noteAdd(account.name, now))
  return changed
}
