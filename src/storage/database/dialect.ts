import type { ValueType } from './batch.ts'
import { sql, type Query, type Sql } from './sql.ts'

/** A text to match byte by byte, or a wildcard: `many` for any text, `one` for any character. */
export type GlobPart = string | { readonly wild: 'many' | 'one' }

/** What the engines do differently, as named capabilities, so that no caller asks which engine it is. */
export interface Dialect {
  /** A condition: `column` contains `text`, compared byte by byte. No column contains U+0000. */
  contains(column: Sql, text: string): Sql
  /** A condition: the whole of `column` matches the parts, in their order. */
  glob(column: Sql, parts: readonly GlobPart[]): Sql
  /** The values as the text of a JSON array. */
  jsonArray(values: readonly Sql[]): Sql
  /** The text as JSON, with quotes. No control character is left in it. */
  quoted(text: Sql): Sql
  /** A condition: `column` contains an ASCII digit. */
  hasDigit(column: Sql): Sql
  /** Whether the engine has no statistics of its tables, so that the form of a statement has to select the index. */
  readonly plansAsWritten: boolean
  /**
   * Ends a SELECT in a transaction and locks the rows it returns until the end. A decision based on a row needs it
   * where several writers run concurrently.
   */
  readonly forUpdate: Sql
  /**
   * A statement after which a transaction runs alone among those that use the same number, until it ends. Undefined if
   * there is one writer anyway.
   */
  exclusively(lock: number): Query | undefined
  /** A JSON array of arrays as a table, and the expressions that are its columns, of these types. */
  jsonRows(json: string, types: readonly ValueType[]): { readonly table: Sql; readonly columns: Sql }
  /** In an INSERT, after its columns: allows explicit ids in an identity column. */
  readonly givenIds: Sql
  /** A statement that advances the sequence past the highest id; undefined if the engine does so itself. */
  continueIds(table: string, column: string): Query | undefined
  /** The current version of the schema. */
  readonly schemaVersion: Query<{ version: number }>
  /**
   * Milliseconds since 1970 by the clock that all processes and nodes on this database share: of the server, or with
   * SQLite of the machine.
   */
  readonly now: Sql
}

/**
 * A condition: `column` is one of some texts.
 * @param texts themselves, or the JSON text of an array of arrays that start with them
 */
export function isOneOf(dialect: Dialect, column: Sql, texts: readonly string[] | string): Sql {
  const rows = typeof texts === 'string' ? texts : JSON.stringify(texts.map((text) => [text]))
  const given = dialect.jsonRows(rows, ['text'])
  return sql`${column} IN (SELECT ${given.columns} FROM ${given.table})`
}
