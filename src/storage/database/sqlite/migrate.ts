import { migrations, type Migration } from '../migrations/index.ts'
import { tooNew } from '../opening.ts'
import type { Connection } from './connection.ts'
import { untilFree } from './turns.ts'

export const schemaVersion = (connection: Connection): number =>
  Number(connection.first('PRAGMA user_version', [])?.['user_version'] ?? 0)

/**
 * Brings the schema up to date, one transaction a step. The write lock is taken before the version is read,
 * so that processes that start together do not run a step twice.
 * @param target go no further than this version
 * @throws when the file was written by a newer version than this program knows
 */
export function migrate(
  connection: Connection,
  target = migrations.length,
  steps: readonly Migration[] = migrations,
): void {
  for (;;) {
    untilFree(() => connection.exec('BEGIN IMMEDIATE'))
    const current = schemaVersion(connection)
    if (current > steps.length) {
      connection.exec('ROLLBACK')
      throw tooNew(current)
    }
    const next = current < target ? steps[current] : undefined
    if (next === undefined) {
      connection.exec('ROLLBACK')
      return
    }
    connection.exec(next.sqlite)
    connection.exec(`PRAGMA user_version = ${current + 1}; COMMIT`)
  }
}
