import type { Clock } from '../../lib/clock.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { purgeBeforeWrite } from '../purge.ts'
import { restoreDomains } from '../queries-batches.ts'
import { namesRecorded } from '../queries-records.ts'
import { Rules } from '../rules/index.ts'
import type { SplitName } from '../words/dictionary.ts'
import type { RowBatch } from './row-buffer.ts'
import type { Effect, Reached, StoreRows } from './writer.ts'

export interface ImportTarget {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  /** Returns the words of a name. */
  readonly split: SplitName
  /** The author of the changes, and the agent of new records of the registry's lists. */
  readonly account: { readonly id: number; readonly name: string }
  /** Called in each transaction after its rows are stored, with what they changed and how far the import is then. */
  readonly stored?: (tx: Transaction, effect: Effect, reached: Reached | undefined) => Promise<void>
}

export type ApplyRows = (tx: Transaction, batch: RowBatch) => Promise<Effect>

export function restoreRows({ database }: Pick<ImportTarget, 'database'>): ApplyRows {
  return async (tx, { names, json }) => {
    const known = await tx.all(namesRecorded(database.dialect, names))
    const changed = await tx.runMany(restoreDomains, [], new Uint8Array(Buffer.from(json)))
    return { added: names.length - known.length, changed }
  }
}

/**
 * Returns what stores rows, each batch in one transaction.
 * @param isDry whether each is rolled back, so that a dry run counts what a real one would
 */
export function storeRows(target: ImportTarget, apply: ApplyRows, isDry = false): StoreRows {
  const { database, account, clock, split } = target
  const rules = new Rules(database, split)
  /** Thrown in a transaction to roll it back. */
  const rollBack = new Error('dry run')
  return async (batch, reachedAfter) => {
    let effect: Effect = { added: 0, changed: 0 }
    const store = async (tx: Transaction) => {
      await purgeBeforeWrite(tx, database.dialect, clock.now(), () => batch.json)
      effect = await rules.tagging(tx, () => apply(tx, batch))
      if (isDry) throw rollBack
      await target.stored?.(tx, effect, reachedAfter?.(effect))
    }
    await database.transaction(store, account.id, { rows: batch.names.length }).catch((error: unknown) => {
      if (error !== rollBack) throw error
    })
    return effect
  }
}
