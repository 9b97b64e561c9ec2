import type { Clock } from '../../lib/clock.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { purgeBeforeWrite } from '../purge.ts'
import { restoreDomains } from '../queries-batches.ts'
import { namesRecorded } from '../queries-records.ts'
import type { RowBatch } from './row-buffer.ts'
import type { StoreRows } from './writer.ts'

export interface ImportTarget {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  /** The author of the changes, and the agent of new records of the registry's lists. */
  readonly account: { readonly id: number; readonly name: string }
  /** Called in each transaction after its rows are stored, with the number of records added or changed. */
  readonly stored?: (tx: Transaction, changed: number) => Promise<void>
}

/** Stores rows in a transaction. @returns the number of records added or changed */
export type ApplyRows = (tx: Transaction, batch: RowBatch) => Promise<number>

/** Restores the records of an export. */
export const restoreRows: ApplyRows = (tx, { json }) =>
  tx.runMany(restoreDomains, [], new Uint8Array(Buffer.from(json)))

/** Returns what stores rows, each batch in one transaction. */
export function storeRows(target: ImportTarget, apply: ApplyRows): StoreRows {
  const { database, account } = target
  return async (batch) => {
    let began = 0
    const store = async (tx: Transaction) => {
      began = performance.now()
      await purgeBeforeWrite(tx, database.dialect, target.clock.now(), () => batch.json)
      const count = await apply(tx, batch)
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
export function dryRunRows(target: ImportTarget, apply: ApplyRows): DryRun {
  const { database, account } = target
  /** Thrown in a transaction to roll it back. */
  const rollBack = new Error('dry run')
  let added = 0
  return {
    async store(batch) {
      const { names } = batch
      let [began, before, changed, after] = [0, 0, 0, 0]
      const count = async (tx: Transaction) => (await tx.all(namesRecorded(database.dialect, names))).length
      const store = async (tx: Transaction) => {
        began = performance.now()
        await purgeBeforeWrite(tx, database.dialect, target.clock.now(), () => batch.json)
        before = await count(tx)
        changed = await apply(tx, batch)
        after = await count(tx)
        throw rollBack
      }
      await database.transaction(store, account.id).catch((error: unknown) => {
        if (error !== rollBack) throw error
      })
      added += after - before
      return { changed, heldMs: performance.now() - began }
    },
    added: () => added,
  }
}
