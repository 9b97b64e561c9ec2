import type { Clock } from '../../core/clock.ts'
import { localDateTime } from '../../core/dates.ts'
import type { BatchStatement } from '../../database/batch.ts'
import type { Database } from '../../database/database.ts'
import { recordedNames } from '../batches.ts'
import * as queries from '../queries.ts'
import * as statements from '../queries-batches.ts'
import type { ImportFormat } from './format.ts'
import type { StoreRows } from './importer.ts'

const STATEMENTS: Readonly<Record<ImportFormat, BatchStatement>> = {
  registrations: statements.recordRegistrations,
  deletions: statements.recordDeletions,
  csv: statements.restoreDomains,
  ndjson: statements.restoreDomains,
}

/**
 * Stores rows in one transaction.
 * @param account on whose behalf; the new ones of the registry's lists are its records
 */
export function storeRows(
  database: Database,
  clock: Clock,
  timeZone: string,
  account: { readonly id: number; readonly name: string },
): StoreRows {
  return (format, rows) =>
    database.transaction(async (tx) => {
      const now = clock.now()
      // A record whose 7 days are over is gone, so recording it again must start afresh.
      await tx.run(queries.deleteAllExpired(now))
      const statement = STATEMENTS[format]
      const constants =
        statement === statements.restoreDomains
          ? []
          : [localDateTime(now, timeZone), account.name, account.name.toLowerCase()]
      const changed = await tx.runMany(
        statement,
        constants,
        new Uint8Array(Buffer.from(JSON.stringify(rows))),
      )
      if (statement !== statements.restoreDomains) await tx.run(queries.noteAdd(account.name, now))
      return changed
    }, account.id)
}

/** Stores nothing, and tells how many of the names are new. */
export function dryRun(database: Database): StoreRows {
  return async (_format, rows) => {
    const names = rows.map(([name]) => String(name))
    return names.length - (await recordedNames(database, names)).size
  }
}
