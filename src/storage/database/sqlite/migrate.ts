import { migrations, nextMigration, type Migration } from '../migrations/index.ts'
import type { Connection } from './connection.ts'
import { untilFree } from './write-lock.ts'

export const schemaVersion = (connection: Connection): number =>
  Number(connection.first('PRAGMA user_version', [])?.['user_version'] ?? 0)

/**
 * Migrates the schema, one transaction per step. The version is read under the write lock, so processes that start together
 * do not run a step twice.
 * @param target no step goes past this version
 * @throws if no step leads from the file's version to this program's
 */
export function migrate(
  connection: Connection,
  target = Infinity,
  steps: readonly Migration[] = migrations,
): void {
  for (;;) {
    untilFree(() => connection.exec('BEGIN IMMEDIATE'))
    let next: Migration | undefined
    try {
      next = nextMigration(schemaVersion(connection), target, steps)
    } finally {
      if (next === undefined) connection.exec('ROLLBACK')
    }
    if (next === undefined) return
    connection.exec(next.sqlite)
    connection.exec(`PRAGMA user_version = ${next.version}; COMMIT`)
  }
}
