import type { BatchStatement } from './batch.ts'
import type { Topic } from './changes/change.ts'
import type { ChangeLog } from './changes/change-log.ts'
import type { Dialect } from './dialect.ts'
import type { Query, SqlValue } from './sql.ts'

/** Reads, on a connection or inside a transaction. */
export interface Reader {
  /** Runs a read that an index answers in well under a millisecond (a few rows, or one page of them). */
  all<Row>(query: Query<Row>): Promise<Row[]>
  /** The first row of such a read. */
  first<Row>(query: Query<Row>): Promise<Row | undefined>
  /** The rows as arrays of their columns' values, in the order selected: half the cost where rows are many. */
  values(query: Query): Promise<SqlValue[][]>
}

export interface Transaction extends Reader {
  /** Runs a writing statement and tells how many rows it changed. */
  run(query: Query): Promise<number>
  /**
   * Does the same with each row of a JSON array of arrays (UTF-8), which spares a large batch the copying
   * between threads.
   * @returns how many rows changed in all
   */
  runMany(batch: BatchStatement, constants: readonly SqlValue[], rows: Uint8Array): Promise<number>
  /**
   * The id of the newest change that this transaction sees, its own included, where nobody else's can come in between before
   * it ends; undefined on an engine where several write at once.
   */
  newestChange(): Promise<number | undefined>
}

/**
 * The database as the features see it. Every method is asynchronous, so that an engine behind a socket
 * fits as well as one in the process.
 */
export interface Database extends Reader {
  readonly dialect: Dialect
  /** For reads that may visit many rows: they run where they cannot delay other requests. For the service itself. */
  readonly scanner: Reader
  /** The same for an account, by its id: accounts and the service share the scanning connections fairly. */
  scannerOf(account: number | undefined): Reader
  /**
   * Runs `work` in one read-write transaction: all of it is on stable storage when this resolves, none of
   * it is there when it rejects, except that after an OverloadError it may be. Where several nodes write, `work` runs again
   * when another transaction comes in between, and each of its statements sees what was committed before it:
   * what a decision rests on is read with `dialect.forUpdate`.
   * @param author the id of the account on whose behalf, for the table of changes; authors share the writer fairly
   * @param purpose `free-space` for work that makes room on the disk: it may use the room that is kept for that
   * @throws OverloadError when too many transactions wait, or one waited too long
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, author?: number, purpose?: 'free-space'): Promise<T>
  /**
   * Reads from one view of everything, as it was when this was called, for as long as `work` runs: whatever others commit
   * meanwhile is not in it. The engine keeps what they replace until then, so it is for minutes, and for pages of rows.
   */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>
  /**
   * A number that changes whenever anyone, in any process, commits a change of that topic: what a cache compares itself
   * with. A commit of this process counts before its transaction resolves, another process's on the same machine (SQLite)
   * at once, another node's (PostgreSQL) within milliseconds, within a second when that node dies, and within 3 seconds
   * whatever happens to the network.
   */
  version(topic: Topic): number
  /**
   * What everyone committed, record by record. A follower hears of it within 0.1 s as a rule, on PostgreSQL within the
   * bounds of `version`; there it also waits for transactions that were under way at the same time, of anyone on that server.
   */
  readonly changes: ChangeLog
  /**
   * What the engine finds wrong with itself, one line a fault, nothing where all is well. SQLite reads all it has for
   * that, which may take long.
   */
  check(): Promise<readonly string[]>
  /** Rejects when the engine does not answer. */
  ping(): Promise<void>
  stats(): DatabaseStats
  /** Waits for the transaction under way. Closing again does nothing. */
  close(): Promise<void>
}

export interface DatabaseStats {
  /** Transactions in line for the writer. */
  readonly waitingWrites: number
  /** Scans in line for the scanning connection. */
  readonly waitingScans: number
}

/** Told how long each operation took, for the metrics. */
export type ObserveDatabase = (operation: 'read' | 'scan' | 'write', seconds: number) => void
