import type { ValueType } from './batch.ts'
import type { Query, Sql } from './sql.ts'

/** A text to be found as it is, byte by byte, or a wildcard: `many` for any text, `one` for any one character. */
export type GlobPart = string | { readonly wild: 'many' | 'one' }

/** Where the engines differ in what they are asked for: named abilities, so that no caller asks which engine it is. */
export interface Dialect {
  /** A condition: `column` contains `text`, compared byte by byte. No column holds U+0000. */
  contains(column: Sql, text: string): Sql
  /** A condition: `column`, the whole of it, is as the parts say, in their order. */
  glob(column: Sql, parts: readonly GlobPart[]): Sql
  /** The text in JSON, quotes included. No control character is left in it. */
  quoted(text: Sql): Sql
  /** A condition: there is one of the ten ASCII digits in `column`. */
  hasDigit(column: Sql): Sql
  /**
   * Whether the engine has no statistics of its tables: the statement then says by its form which index is to be gone through.
   */
  readonly plansAsWritten: boolean
  /**
   * Ends a SELECT in a transaction: until that ends nobody else changes or removes the rows it found. Where several
   * write at once, a decision taken from a row needs it.
   */
  readonly forUpdate: Sql
  /** A JSON array of arrays as a table, and the expressions that are its columns, of these types. */
  jsonRows(json: string, types: readonly ValueType[]): { readonly table: Sql; readonly columns: Sql }
  /** In an INSERT, after its columns: values are given also for ids that the database makes by itself. */
  readonly givenIds: Sql
  /** A statement that makes those ids go on behind the highest there is; undefined where they do so anyway. */
  continueIds(table: string, column: string): Query | undefined
  /** The version of the schema that the database is at. */
  readonly schemaVersion: Query<{ version: number }>
  /**
   * Milliseconds since 1970 by the clock that all processes and nodes on this database share: the server's, or with SQLite the
   * machine's.
   */
  readonly now: Sql
}
