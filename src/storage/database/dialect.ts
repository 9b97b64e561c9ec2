import type { ValueType } from './batch.ts'
import { sql, type Query, type Sql, empty, join, raw } from './sql.ts'

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
  /** The JSON array with null in place of an element, if it has that many. */
  withoutElement(json: Sql, index: number): Sql
  /** A condition: `column` contains one of these characters, none of which is special within brackets. */
  containsAny(column: Sql, characters: string): Sql
  /** Whether the engine has no statistics of its tables, so that the form of a statement has to select the index. */
  readonly plansAsWritten: boolean
  /** Ends a SELECT and locks its rows until the transaction ends. Decisions based on rows need it. */
  readonly forUpdate: Sql
  /** Makes a transaction run alone among those with the same number. Undefined if there is one writer anyway. */
  exclusively(lock: number): Query | undefined
  /** A JSON array of arrays as a table, and the expressions that are its columns, of these types. */
  jsonRows(json: string, types: readonly ValueType[]): { readonly table: Sql; readonly columns: Sql }
  /** A statement that advances the sequence of a column, if it has one, past the highest id; undefined if the engine does so itself. */
  continueIds(table: string, column: string): Query | undefined
  /** The triggers and indexes of tables, as statements that suspend and resume them. Keys and constraints stay. */
  suspensions(tables: readonly string[]): Query<{ suspend: string; resume: string }>
  /** The current version of the schema. */
  readonly schemaVersion: Query<{ version: number }>
  /** Milliseconds since 1970 by the clock that all processes and nodes share: the server's, or the machine's. */
  readonly now: Sql
}

/** Locks the only row of the table until the transaction ends, for what one transaction of all nodes does at a time. */
export const lockInstance = ({ forUpdate }: Dialect): Query => sql`SELECT id FROM instance ${forUpdate}`

/**
 * A condition: `column` is one of some texts.
 * @param texts themselves, or the JSON text of an array of arrays that start with them
 */
export function isOneOf(dialect: Dialect, column: Sql, texts: readonly string[] | string): Sql {
  const rows = typeof texts === 'string' ? texts : JSON.stringify(texts.map((text) => [text]))
  const given = dialect.jsonRows(rows, ['text'])
  return sql`${column} IN (SELECT ${given.columns} FROM ${given.table})`
}

/** Returns a condition of an operator with wildcards; `escape` makes the `special` characters literal. */
const glob =
  (operator: Sql, special: RegExp, escape: string, wild: { readonly many: string; readonly one: string }) =>
  (column: Sql, parts: readonly GlobPart[]): Sql => {
    const pattern = parts.map((part) =>
      typeof part === 'string' ? part.replaceAll(special, escape) : wild[part.wild],
    )
    // SQLite ignores everything after U+0000, and PostgreSQL rejects it as a parameter.
    return pattern.some((part) => part.includes('\0'))
      ? raw('1 = 0')
      : sql`${column} ${operator} ${pattern.join('')}`
  }

export const sqliteDialect: Dialect = {
  // Not LIKE: its wildcards would need escaping, and it folds only ASCII letters.
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`,
  glob: glob(raw('GLOB'), /[*?[]/g, '[$&]', { many: '*', one: '?' }),
  jsonArray: (values) => sql`json_array(${join(values)})`,
  quoted: (text) => sql`json_quote(${text})`,
  withoutElement: (json, index) => sql`json_replace(${json}, ${`$[${index}]`}, NULL)`,
  containsAny: (column, characters) => sql`${column} GLOB ${`*[${characters}]*`}`,
  // Only ANALYZE creates `sqlite_stat1`, and it reads the whole table.
  plansAsWritten: true,
  // There is one writer.
  forUpdate: empty,
  exclusively: () => undefined,
  jsonRows: (json, types) => ({
    table: sql`json_each(${json})`,
    columns: raw(types.map((_, i) => `value ->> ${i}`).join(', ')),
  }),
  continueIds: () => undefined,
  suspensions: (tables) => sql`
    SELECT 'DROP ' || type || ' ' || name AS suspend, sql AS resume FROM sqlite_schema
    WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name IN (${join(tables)})`,
  schemaVersion: sql`SELECT user_version AS version FROM pragma_user_version`,
  now: raw(`CAST(unixepoch('subsec') * 1000 AS INTEGER)`),
}

const like = glob(raw('LIKE'), /[\\%_]/g, '\\$&', { many: '%', one: '_' })
const MANY: GlobPart = { wild: 'many' }

export const postgresDialect: Dialect = {
  // A trigram index serves LIKE. Without one, and for one or two characters, it visits all rows.
  contains: (column, text) => like(column, [MANY, text, MANY]),
  glob: like,
  jsonArray: (values) => sql`json_build_array(${join(values)})::text`,
  quoted: (text) => sql`to_json(${text})::text`,
  withoutElement: (json, index) => sql`jsonb_set(${json}::jsonb, ${`{${index}}`}, 'null', false)::text`,
  containsAny: (column, characters) => sql`${column} ~ ${`[${characters}]`}`,
  plansAsWritten: false,
  forUpdate: raw('FOR UPDATE'),
  exclusively: (lock) => sql`SELECT pg_advisory_xact_lock(${lock})`,
  // jsonb, because json is scanned from its beginning for each column, which takes three times as long.
  jsonRows: (json, types) => ({
    table: sql`jsonb_array_elements(${json}::jsonb)`,
    columns: raw(
      types.map((type, i) => (type === 'text' ? `value ->> ${i}` : `(value ->> ${i})::bigint`)).join(', '),
    ),
  }),
  // The third argument: without rows the next id is the first one.
  continueIds: (table, column) => sql`
    SELECT setval(pg_get_serial_sequence(${table}, ${column}), COALESCE(max(${raw(column)}), 1), max(${raw(column)}) IS NOT NULL)
    FROM ${raw(table)}`,
  suspensions: (tables) => sql`
    SELECT 'DROP INDEX ' || quote_ident(indexname) AS suspend, indexdef AS resume FROM pg_indexes
    WHERE schemaname = current_schema() AND tablename IN (${join(tables)})
      AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace)
    UNION ALL
    SELECT format('ALTER TABLE %I DISABLE TRIGGER USER', tablename), format('ALTER TABLE %I ENABLE TRIGGER USER', tablename)
    FROM pg_tables WHERE schemaname = current_schema() AND tablename IN (${join(tables)})`,
  schemaVersion: sql`SELECT version FROM schema_version`,
  now: raw('(extract(epoch FROM clock_timestamp()) * 1000)::bigint'),
}
