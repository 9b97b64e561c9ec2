import type { Config } from '../server/config/config.ts'
import { openDatabase } from '../server/context.ts'
import type { Database } from '../storage/database/database.ts'
import type { OpenOptions } from '../storage/database/open-options.ts'
import { fail, failureLine } from './failure.ts'

/** Runs `use` with the database of the instance, and closes it. A database that cannot be opened is reported. */
export async function withDatabase(
  config: Config,
  options: OpenOptions,
  use: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await openDatabase(config, undefined, undefined, options).catch((error: unknown) =>
    fail(`could not open the database: ${failureLine(error)}`),
  )
  if (database === undefined) return
  try {
    await use(database)
  } finally {
    await database.close()
  }
}

/** Reports that a command migrated an older database. */
export function reportMigration(from: number, to: number): void {
  console.error(`catalejo: migrated the database from schema ${from} to ${to}`)
}
