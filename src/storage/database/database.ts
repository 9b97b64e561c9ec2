import type { BatchStatement } from './batch.ts'
import type { Topic } from './changes/change.ts'
import type { ChangeLog } from './changes/change-log.ts'
import type { Dialect } from './dialect.ts'
import type { Query, SqlValue } from './sql.ts'

/** Reads, on a connection or inside a transaction. */
export interface Reader {
  /** Runs a read that an index answers in well under a millisecond (a few rows, or one page). */
  all<Row>(query: Query<Row>): Promise<Row[]>
  /** The first row of such a read. */
  first<Row>(query: Query<Row>): Promise<Row | undefined>
  /** Returns the rows as arrays of values, in the order selected: half the cost for many rows. */
  values(query: Query): Promise<SqlValue[][]>
}

export interface Transaction extends Reader {
  /** Runs a writing statement and returns how many rows it changed. */
  run(query: Query): Promise<number>
  /**
   * Runs a statement for each row of a JSON array of arrays (UTF-8, see `rowValues`). The bytes are transferred to the
   * writer, not copied.
   * @returns how many rows changed in all
   */
  runMany(batch: BatchStatement, constants: readonly SqlValue[], rows: Uint8Array): Promise<number>
  /**
   * Returns the id of the newest change visible to this transaction, its own included. Undefined on an engine with
   * concurrent writers, where other changes may come in between before it ends.
   */
  newestChange(): Promise<number | undefined>
}

/**
 * The database as the features see it. Every method is asynchronous, so that engines behind a socket fit as well as
 * those in the process.
 */
export interface Database extends Reader {
  readonly dialect: Dialect
  /**
   * For reads that may visit many rows: they run where they do not delay other requests. On behalf of the service
   * itself.
   */
  readonly scanner: Reader
  /** The same on behalf of an account: accounts and the service share the scanning connections fairly. */
  scannerOf(account: number | undefined): Reader
  /**
   * Runs `work` in one read-write transaction. When it resolves, everything is on stable storage; when it rejects,
   * nothing was stored, except that after an OverloadError it may have been. With several nodes, `work` is retried
   * after a conflict, and each statement sees what was committed before it: rows that a decision depends on are read
   * with `dialect.forUpdate`.
   * @param author the account that the changes are attributed to; authors share the writer fairly
   * @param purpose `free-space` for work that frees disk space: it may use the reserve
   * @throws OverloadError if too many transactions wait, or one waited too long
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, author?: number, purpose?: 'free-space'): Promise<T>
  /**
   * Runs reads on one snapshot of everything, taken when this is called, for as long as `work` runs. The engine keeps
   * replaced rows until then, so it is for minutes, and for pages of rows.
   */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>
  /**
   * Returns a number that changes whenever any process commits a change of that topic, for caches. A commit of this
   * process counts before its transaction resolves, one of another process on the same machine (SQLite) immediately,
   * one of another node (PostgreSQL) within milliseconds, within a second if that node dies, and within 3 seconds in
   * any network failure.
   */
  version(topic: Topic): number
  /**
   * Everything that was committed, record by record. A follower is notified within 0.1 s as a rule, on PostgreSQL
   * within the limits of `version`; there it also waits for concurrent transactions of anyone on that server.
   */
  readonly changes: ChangeLog
  /**
   * Returns the faults that the engine finds in itself, one line each. SQLite reads the whole file, which may take
   * long.
   */
  check(): Promise<readonly string[]>
  /** Rejects when the engine does not answer. */
  ping(): Promise<void>
  stats(): DatabaseStats
  /** Waits for the running transaction. Closing again does nothing. */
  close(): Promise<void>
}

export interface DatabaseStats {
  /** Transactions waiting for the writer. */
  readonly waitingWrites: number
  /** Scans waiting for the scanning connection. */
  readonly waitingScans: number
}

/** Called with the duration of each operation, for the metrics. */
export type ObserveDatabase = (operation: 'read' | 'scan' | 'write', seconds: number) => void
