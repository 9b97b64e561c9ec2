import { empty, join, raw, Sql, type RawValue } from 'sql-template-tag'

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
