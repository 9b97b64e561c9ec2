import type { Sql } from './sql.ts'

/** Where the engines differ in what they are asked for: named abilities, so that no caller asks which engine it is. */
export interface Dialect {
  /** A condition: `column` contains `text`, compared byte by byte. No column holds U+0000. */
  contains(column: Sql, text: string): Sql
  /**
   * Ends a SELECT in a transaction: until that ends nobody else changes or removes the rows it found. Where several
   * write at once, a decision taken from a row needs it.
   */
  readonly forUpdate: Sql
  /**
   * Milliseconds since 1970 by the clock that all processes and nodes on this database share: the server's, or with SQLite the
   * machine's.
   */
  readonly now: Sql
}
