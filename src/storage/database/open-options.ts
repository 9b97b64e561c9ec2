import type { StorageFault } from './faults.ts'
import { assertUpgradable, newerThan, SCHEMA, type Migration } from './migrations/index.ts'

/** Options of both engines. */
export interface OpenOptions {
  /** Migrate up to this version of the schema only. */
  readonly schema?: number | undefined
  /** The steps of the schema, by default those of this version. Tests of upgrades add theirs. */
  readonly migrations?: readonly Migration[]
  /** For a process that only stores many records: it gets more memory. */
  readonly load?: boolean
  /** Reserves disk space for deletions (SQLite only). */
  readonly reserve?: boolean
  /** Opens only an existing database with the current schema: creates and migrates nothing. */
  readonly existing?: boolean
  /** Called after migrations of an existing database, with the versions of its schema. */
  readonly onMigrated?: (from: number, to: number) => void
  /** Called for every operation that failed because of the storage. */
  readonly onFault?: (fault: StorageFault) => void
}

/**
 * @param name of the database, for messages
 * @param absence message if it has no schema
 * @throws unless a database that must exist is of this version's schema
 */
export function assertCurrentSchema(version: number | undefined, name: string, absence: string): void {
  if (version === undefined || version === 0) throw new Error(absence)
  assertUpgradable(version)
  if (version > SCHEMA) throw new Error(newerThan(version))
  if (version < SCHEMA) {
    throw new Error(
      `${name} is at schema ${version}, this version needs ${SCHEMA}: ` +
        'catalejo serve brings it up to date',
    )
  }
}
