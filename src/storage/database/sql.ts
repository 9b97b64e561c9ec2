import { empty, join, raw, Sql, type RawValue } from 'sql-template-tag'
import type { BatchStatement, Columns } from './batch.ts'

export { empty, join, raw, type Sql }

/** What a column may hold, in either engine. */
export type SqlValue = string | number | bigint | null | Uint8Array

/**
 * A statement with its parameters and, in the type only, the row it returns. `.sql` is its text with `?` placeholders,
 * `.text` the same with `$1`, so one statement serves both engines.
 */
export class Query<Row = unknown> extends Sql {
  declare readonly row: Row
}

/** Tags a template as a statement: every `${value}` becomes a parameter, nested statements are inlined. */
export function sql<Row = unknown>(strings: TemplateStringsArray, ...values: RawValue[]): Query<Row> {
  return new Query<Row>(strings, values)
}

/**
 * A LIMIT clause. The cast is for SQLite, which replans a statement with a bare parameter as LIMIT at every run, at
 * several times the cost of the run.
 */
export function limit(count: number): Sql {
  return sql`LIMIT CAST(${count} AS INTEGER)`
}

/** Joins conditions with AND. Without any it is always true. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? raw('1 = 1') : join(conditions, ' AND ')
}

/** Returns the statement's parameters. @throws TypeError for a value that is not one of SQL */
export function sqlValues(query: Query): SqlValue[] {
  return query.values.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    if (typeof value === 'bigint' || value instanceof Uint8Array) return value
    throw new TypeError(`a ${typeof value} is not an SQL value`)
  })
}

/** Reads, on a connection or inside a transaction. */
export interface Reader {
  /** Runs a read that an index answers in well under a millisecond (a few rows, or one page). */
  all<Row>(query: Query<Row>): Promise<Row[]>
  /** The first row of such a read. */
  first<Row>(query: Query<Row>): Promise<Row | undefined>
  /** Returns the rows as arrays of values, in the order selected: half the cost for many rows. */
  values(query: Query): Promise<SqlValue[][]>
}

/**
 * Returns a reader.
 * @param read resolves to rows as objects (`all`) or as arrays (`values`)
 */
export function readerOn(read: (form: 'all' | 'values', query: Query) => Promise<unknown>): Reader {
  // The engine cannot know a statement's row type: the statement's own declaration is trusted, here only.
  const all = async <Row>(query: Query<Row>) => (await read('all', query)) as Row[]
  return {
    all,
    first: async (query) => (await all(query))[0],
    values: async (query) => (await read('values', query)) as SqlValue[][],
  }
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
  /** Inserts the rows of a JSON array of arrays, which have the values of these columns. @returns their number */
  insertMany(table: string, columns: Columns, rows: Uint8Array): Promise<number>
  /**
   * Returns the id of the newest change visible to this transaction, its own included. Undefined on an engine with
   * concurrent writers, where other changes may come in between before it ends.
   */
  newestChange(): Promise<number | undefined>
}
