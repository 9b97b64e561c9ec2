import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { BatchStatement } from '../../storage/database/batch.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { recordedNames } from '../batches.ts'
import { makeRoom } from '../purge.ts'
import * as queries from '../queries.ts'
import * as statements from '../queries-batches.ts'
import type { ImportFormat } from './format.ts'
import type { StoreRows } from './storing.ts'
import type { RowBatch } from './stretch.ts'

const STATEMENTS: Readonly<Record<ImportFormat, BatchStatement>> = {
  registrations: statements.recordRegistrations,
  deletions: statements.recordDeletions,
  csv: statements.restoreDomains,
  ndjson: statements.restoreDomains,
}

export interface ImportTarget {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  /** On whose behalf; the new ones of the registry's lists are its records. */
  readonly account: { readonly id: number; readonly name: string }
}

/** Stores rows in one transaction. */
export function storeRows(target: ImportTarget): StoreRows {
  const { database, account } = target
  return async (batch) => {
    let began = 0
    const changed = await database.transaction((tx) => {
      began = performance.now()
      return storeIn(tx, target, batch)
    }, account.id)
    return { changed, heldMs: performance.now() - began }
  }
}

export interface Trial {
  readonly store: StoreRows
  /** Names so far that are not recorded. */
  readonly added: () => number
}

/** Stores nothing: what would be stored is taken back, so that it counts exactly as the real run would. */
export function tryRows(target: ImportTarget): Trial {
  const { database, account } = target
  let added = 0
  return {
    async store(batch) {
      const { names } = batch
      const trial = new TakenBack()
      let began = 0
      try {
        await database.transaction(async (tx) => {
          began = performance.now()
          await makeRoom(tx, database.dialect, target.clock.now(), () => batch.json)
          trial.added = names.length - (await recordedNames(tx, names)).size
          trial.changed = await storeIn(tx, target, batch)
          throw trial
        }, account.id)
      } catch (error) {
        if (error !== trial) throw error
      }
      added += trial.added
      return { changed: trial.changed, heldMs: performance.now() - began }
    },
    added: () => added,
  }
}

/** Thrown in a transaction whose work must not stay. */
class TakenBack extends Error {
  added = 0
  changed = 0
}

async function storeIn(
  tx: Transaction,
  { database, clock, timeZone, account }: ImportTarget,
  { format, json }: RowBatch,
): Promise<number> {
  const now = clock.now()
  await makeRoom(tx, database.dialect, now, () => json)
  const statement = STATEMENTS[format]
  const constants =
    statement === statements.restoreDomains
      ? []
      : [localDateTime(now, timeZone), account.name, account.name.toLowerCase()]
  const changed = await tx.runMany(statement, constants, new Uint8Array(Buffer.from(json)))
  if (statement !== statements.restoreDomains) await tx.run(queries.noteAdd(account.name, now))
  return changed
}
