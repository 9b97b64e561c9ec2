import type { BatchStatement } from './batch.ts'
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
