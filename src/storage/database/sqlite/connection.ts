import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { lruCache } from '../../../lib/lru-cache.ts'
import { ensureFileSync } from '../../../lib/private-files.ts'
import type { SqlValue } from '../sql.ts'
import type { SqliteBatch } from '../batch.ts'
import { untilFree } from './write-lock.ts'
import { migrations, nextMigration, type Migration } from '../migrations/index.ts'

/** Prepared statements cached per connection: filters combine freely, so their texts are many but limited. */
const MAX_STATEMENTS = 256

/**
 * How long a read waits for another process. In WAL mode that happens only while the first process after a crash
 * recovers the log, or the last one to close removes it.
 */
const READ_WAIT_MS = 10_000

/** `scan` is for reading many rows, `load` for writing batch after batch. */
export type ConnectionMode = 'read' | 'scan' | 'write' | 'load'

export const isReadOnly = (mode: ConnectionMode): boolean => mode === 'read' || mode === 'scan'

/**
 * Page cache. A batch of 50,000 changes some 100 MB of pages in a table of a million records, some 300 MB in one of ten
 * million, each of them many times; pages that do not fit are written more than once.
 */
const CACHE_KIB: Readonly<Record<ConnectionMode, number>> = {
  read: 65_536,
  scan: 65_536,
  write: 131_072,
  load: 262_144,
}

/** The part of the file that is mapped. Not by scans, which would make all of it memory of the process. */
const mappedBytes = (mode: ConnectionMode): number => (mode === 'scan' ? 0 : 268_435_456)

/** A SQLite connection with the settings that all our connections need. */
export class Connection {
  readonly #db: DatabaseSync
  readonly #statements = lruCache<StatementSync>(MAX_STATEMENTS)
  readonly #arrayStatements = lruCache<StatementSync>(MAX_STATEMENTS)

  readonly #version: StatementSync

  constructor(path: string, mode: ConnectionMode, existing = false) {
    // SQLite would leave the mode of the file to the umask; its log and index get the mode of the file.
    if (!isReadOnly(mode) && !existing) ensureFileSync(path)
    this.#db = new DatabaseSync(path, {
      readOnly: isReadOnly(mode),
      timeout: isReadOnly(mode) ? READ_WAIT_MS : 0,
    })
    // Each statement may meet another process that recovers the log after a crash. Reads wait for that automatically.
    this.#version = isReadOnly(mode) ? this.#configure(mode) : untilFree(() => this.#configure(mode))
  }

  /** May be repeated. @returns the statement that reads the data version */
  #configure(mode: ConnectionMode): StatementSync {
    if (!isReadOnly(mode)) {
      // WAL lets reads continue during a write. `synchronous` is not stored in the file: without FULL on each
      // connection a commit is acknowledged before it is on stable storage.
      this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
      // Overwrites erased data, above all an uploader's address, in the pages too; FAST writes no additional page.
      this.#db.exec('PRAGMA secure_delete = FAST')
    }
    // With the default page cache of 2 MB reads are three times slower.
    this.#db.exec(`PRAGMA cache_size = -${CACHE_KIB[mode]}`)
    this.#db.exec(`PRAGMA mmap_size = ${mappedBytes(mode)}; PRAGMA temp_store = MEMORY`)
    return this.#db.prepare('PRAGMA data_version')
  }

  /** Returns a number that changes with each commit of another connection. Read at almost every request. */
  dataVersion(): number {
    return Number(this.#version.get()?.['data_version'])
  }

  all(text: string, values: readonly SqlValue[]): Record<string, unknown>[] {
    return this.#statement(text).all(...values)
  }

  first(text: string, values: readonly SqlValue[]): Record<string, unknown> | undefined {
    return this.#statement(text).get(...values)
  }

  /** Returns rows as arrays, in the order of the columns. */
  values(text: string, values: readonly SqlValue[]): SqlValue[][] {
    const statement = this.#statement(text, this.#arrayStatements)
    statement.setReturnArrays(true)
    // The setting has this effect, which the library's types do not express.
    return statement.all(...values) as unknown as SqlValue[][]
  }

  run(text: string, values: readonly SqlValue[]): number {
    return Number(this.#statement(text).run(...values).changes)
  }

  /**
   * Stores rows in the order of their keys, so that pages are visited one after the other.
   * @returns the number of rows added or changed
   */
  runMany(
    { text, key }: SqliteBatch,
    constants: readonly SqlValue[],
    rows: readonly (readonly SqlValue[])[],
  ): number {
    const sorted =
      key === undefined ? rows : rows.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1))
    return sorted.reduce((changes, row) => changes + this.run(text, [...constants, ...row]), 0)
  }

  exec(text: string): void {
    this.#db.exec(text)
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction
  }

  close(): void {
    this.#db.close()
  }

  #statement(text: string, prepared = this.#statements): StatementSync {
    let statement = prepared.get(text)
    if (statement === undefined) {
      statement = this.#db.prepare(text)
      prepared.set(text, statement)
    }
    return statement
  }
}

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
