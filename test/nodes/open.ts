import { join } from 'node:path'
import type { Database } from '../../src/storage/database/database.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'

/** @param address a PostgreSQL address, or the folder of an SQLite database */
export function openAt(address: string): Promise<Database> {
  return address.startsWith('postgres') ? openPostgres(address) : openSqlite(join(address, 'catalejo.db'))
}

/** Ends the leases of killed nodes. Another test covers that they expire after 15 s. */
export async function endLeases(folder: string, databaseUrl: string): Promise<void> {
  const database = await openAt(databaseUrl === '' ? folder : databaseUrl)
  await database.transaction((tx) => tx.run(sql`UPDATE leases SET expires_at = 0`))
  await database.close()
}
