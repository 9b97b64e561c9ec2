import type { StorageFault } from './faults.ts'
import { assertUpgradable, newerThan, SCHEMA, type Migration } from './migrations/index.ts'

/** How a database is opened, on either engine. */
export interface OpenOptions {
  /** Migrate up to this version of the schema only. */
  readonly schema?: number | undefined
  /** The steps of the schema, by default those of this version. Tests of upgrades add theirs. */
  readonly migrations?: readonly Migration[]
  /** For a process that does nothing but store a great many records: more memory is worth it. */
  readonly load?: boolean
  /** Keeps room on the disk for deletions (SQLite only; PostgreSQL's disk is its own matter). */
  readonly reserve?: boolean
  /** Opens only what is there and of this version's schema: creates nothing, migrates nothing. */
  readonly existing?: boolean
  /** Called after migrations ran on a database that was not new, with the versions of its schema. */
  readonly onMigrated?: (from: number, to: number) => void
  /** Called for every operation that the storage failed. */
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
