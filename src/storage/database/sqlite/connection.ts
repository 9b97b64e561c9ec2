import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync, backup } from 'node:sqlite'
import { OverloadError } from '../../../lib/errors.ts'
import { lruCache } from '../../../lib/lru-cache.ts'
import { ensureFileSync, syncFolder } from '../../../lib/private-files.ts'
import type { SqliteBatch } from '../batch.ts'
import { toStorageKind, onStorage } from '../faults.ts'
import { migrations, nextMigration, type Migration } from '../migrations/index.ts'
import type { SqlValue } from '../sql.ts'

/** How long a transaction waits for those of other processes. */
const WAIT_MS = 10_000
/**
 * How often a waiting transaction tries to get the write lock: SQLite does not notify. SQLite's own busy handler, which
 * ends up trying every 100 ms, never hits the gap between two transactions of a busy process.
 */
const ASK_EVERY_MS = 2
/** A process leaves others a gap between its transactions, in proportion to how long it held the lock. */
const GAP_SHARE = 0.025
const MAX_GAP_MS = 5

/** The result code, without its extension: another connection holds the lock. */
const SQLITE_BUSY = 5

/** The part of a connection that takes the lock. */
interface Executor {
  exec(text: string): void
}

/** Shares the write lock with other processes. Waiting blocks the thread, so it is for worker threads. */
export class WriteLock {
  readonly #connection: Executor
  #since = 0
  #nextAt = 0

  constructor(connection: Executor) {
    this.#connection = connection
  }

  /** @throws OverloadError if others hold the lock for too long */
  begin(): void {
    sleep(this.#nextAt - performance.now())
    untilFree(() => this.#connection.exec('BEGIN IMMEDIATE'))
    this.#since = performance.now()
  }

  /** To be called after the transaction. */
  end(): void {
    const now = performance.now()
    this.#nextAt = now + Math.min(MAX_GAP_MS, (now - this.#since) * GAP_SHARE)
  }
}

/**
 * Runs an operation as soon as no other process prevents it, and returns its result.
 * @throws OverloadError if that takes too long
 */
export function untilFree<Result>(operation: () => Result): Result {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    try {
      return operation()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() > deadline) throw new OverloadError()
      // Random, so that waiting processes do not keep in step.
      sleep(ASK_EVERY_MS * (0.25 + 0.75 * Math.random()))
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4))

function sleep(ms: number): void {
  if (ms > 0) Atomics.wait(neverNotified, 0, 0, ms)
}

/** Prepared statements cached per connection: filters combine freely, so their texts are many but limited. */
const MAX_STATEMENTS = 256

/**
 * How long a read waits for another process. In WAL mode that happens only while the first process after a crash
 * recovers the log, or the last one to close removes it.
 */
const READ_WAIT_MS = 10_000

/** `scan` is for reading many rows. */
export type ConnectionMode = 'read' | 'scan' | 'write'

export const isReadOnly = (mode: ConnectionMode): boolean => mode !== 'write'

/**
 * Page cache. A batch of 50,000 changes some 100 MB of pages in a table of a million records, each of them many times; pages that
 * do not fit are written more than once.
 */
const CACHE_KIB: Readonly<Record<ConnectionMode, number>> = { read: 65_536, scan: 65_536, write: 131_072 }

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
    return this.#run(() => this.#statement(text).all(...values))
  }

  first(text: string, values: readonly SqlValue[]): Record<string, unknown> | undefined {
    return this.#run(() => this.#statement(text).get(...values))
  }

  /** Returns rows as arrays, in the order of the columns. */
  values(text: string, values: readonly SqlValue[]): SqlValue[][] {
    return this.#run(() => {
      const statement = this.#statement(text, this.#arrayStatements)
      statement.setReturnArrays(true)
      // The setting has this effect, which the library's types do not express.
      return statement.all(...values) as unknown as SqlValue[][]
    })
  }

  run(text: string, values: readonly SqlValue[]): number {
    return Number(this.#run(() => this.#statement(text).run(...values).changes))
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

  /** Pages that were read while the file was damaged do not outlast its repair. */
  #run<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (toStorageKind(error) === 'damaged') this.#db.exec('PRAGMA shrink_memory')
      throw error
    }
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

/** More pages than a database has. */
const ALL_PAGES = 2 ** 31 - 1

/** Copies a database, which others may use, as of one moment. The copy appears under its path when it is complete and on the disk. */
export async function copySqlite(path: string, copy: string): Promise<void> {
  const unfinished = `${copy}.unfinished`
  await rm(unfinished, { force: true })
  ensureFileSync(unfinished)
  {
    using source = new DatabaseSync(path, { readOnly: true })
    // All pages in one step: a commit between two steps would start the copy again.
    await backup(source, unfinished, { rate: ALL_PAGES })
  }
  await using file = await open(unfinished, 'r')
  await file.sync()
  await rename(unfinished, copy)
  await syncFolder(dirname(copy))
}

/** Returns the version of the schema of a database file; 0 if there is none. */
export function schemaVersionAt(path: string): number {
  if (!existsSync(path)) return 0
  return onStorage(path, () => {
    using db = new DatabaseSync(path, { readOnly: true })
    return Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  })
}
