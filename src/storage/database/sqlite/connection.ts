import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { ensureFileSync } from '../../../lib/private-files.ts'
import type { SqlValue } from '../sql.ts'
import { untilFree } from './write-lock.ts'

/** Prepared statements kept a connection: filters combine freely, so their texts are many but not endless. */
const MAX_STATEMENTS = 256

/**
 * How long a read waits for another process. In WAL mode nothing makes it, but for the moments in which the first process
 * after a crash puts the log in order, or the last one that leaves puts it away.
 */
const READ_WAIT_MS = 10_000

/** A commit that finds so many pages in the log moves them into the file: SQLite's own default. */
const LOG_PAGES = 1_000

/** `load` writes too, batch after batch. */
export type ConnectionMode = 'read' | 'write' | 'load'

/**
 * Pages in memory. A batch of 50,000 to a million records changes some 100 MB of them, to ten million some 300, each of them
 * many times; those that do not fit are written more than once.
 */
const CACHE_KIB: Readonly<Record<ConnectionMode, number>> = {
  read: 65_536,
  write: 131_072,
  load: 262_144,
}

/** One SQLite connection with the settings that every connection of ours needs. */
export class Connection {
  readonly #db: DatabaseSync
  readonly #statements = new LRUCache<string, StatementSync>({ max: MAX_STATEMENTS })
  readonly #arrayStatements = new LRUCache<string, StatementSync>({ max: MAX_STATEMENTS })

  readonly #version: StatementSync

  constructor(path: string, mode: ConnectionMode, existing = false) {
    // SQLite would leave the file's mode to the umask; its log and index get the mode of the file.
    if (mode !== 'read' && !existing) ensureFileSync(path)
    this.#db = new DatabaseSync(path, {
      readOnly: mode === 'read',
      timeout: mode === 'read' ? READ_WAIT_MS : 0,
    })
    if (mode !== 'read') {
      // WAL lets reads go on during a write. `synchronous` is not stored in the file: without FULL on each
      // connection a commit is acknowledged before it is on stable storage.
      untilFree(() => this.#db.exec('PRAGMA journal_mode = WAL'))
      this.#db.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
      // What is erased, an uploader's address above all, goes from the pages too that it stood on; FAST writes no page more.
      this.#db.exec('PRAGMA secure_delete = FAST')
    }
    // The default page cache of 2 MB made reads three times slower.
    this.#db.exec(`PRAGMA cache_size = -${CACHE_KIB[mode]}`)
    this.#db.exec('PRAGMA mmap_size = 268435456; PRAGMA temp_store = MEMORY')
    this.#version = this.#db.prepare('PRAGMA data_version')
  }

  /** Another number after each commit of another connection. Asked for at almost every request. */
  dataVersion(): number {
    return Number(this.#version.get()?.['data_version'])
  }

  all(text: string, values: readonly SqlValue[]): Record<string, unknown>[] {
    return this.#statement(text).all(...values)
  }

  first(text: string, values: readonly SqlValue[]): Record<string, unknown> | undefined {
    return this.#statement(text).get(...values)
  }

  /** Rows as arrays, in the order of the columns. */
  values(text: string, values: readonly SqlValue[]): SqlValue[][] {
    const statement = this.#statement(text, this.#arrayStatements)
    statement.setReturnArrays(true)
    // Which is what the setting makes of the rows; the library's types do not know it.
    return statement.all(...values) as unknown as SqlValue[][]
  }

  run(text: string, values: readonly SqlValue[]): number {
    return Number(this.#statement(text).run(...values).changes)
  }

  exec(text: string): void {
    this.#db.exec(text)
  }

  /** Until `moveLog` a commit leaves what it wrote in the log. */
  keepLog(): void {
    this.#db.exec('PRAGMA wal_autocheckpoint = 0')
  }

  /** Moves what is in the log into the file, as far as no reader stands in the way. A failure leaves it to the next commit. */
  moveLog(): void {
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`)
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // As SQLite does after a commit: the log has it all.
    }
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
