import { join } from 'node:path'
import type { Database } from '../../src/storage/database/database.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'

/** @param address a PostgreSQL address, or the folder of an SQLite database */
export function openAt(address: string): Promise<Database> {
  return address.startsWith('postgres') ? openPostgres(address) : openSqlite(join(address, 'catalejo.db'))
}
