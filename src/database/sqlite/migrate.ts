import { migrations } from '../migrations/index.ts'
import type { Connection } from './connection.ts'
import { untilFree } from './turns.ts'

/**
 * Brings the schema up to date, one transaction a step. The write lock is taken before the version is read,
 * so that processes that start together do not run a step twice.
 * @throws when the file was written by a newer version than this program knows
 */
export function migrate(connection: Connection): void {
  for (;;) {
    untilFree(() => connection.exec('BEGIN IMMEDIATE'))
    const current = Number(connection.first('PRAGMA user_version', [])?.['user_version'] ?? 0)
    if (current > migrations.length) {
      connection.exec('ROLLBACK')
      throw new Error(`the database is at schema ${current}, this version knows only ${migrations.length}`)
    }
    const next = migrations[current]
    if (next === undefined) {
      connection.exec('ROLLBACK')
      return
    }
    connection.exec(next.sqlite)
    connection.exec(`PRAGMA user_version = ${current + 1}; COMMIT`)
  }
}
