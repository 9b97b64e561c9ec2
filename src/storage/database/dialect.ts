import type { ValueType } from './batch.ts'
import { sql, type Query, type Sql, empty, join, raw } from './sql.ts'

/** What the engines do differently, as named capabilities, so that no caller asks which engine it is. */
export interface Dialect {
  /** A condition: `column` contains `text`, compared byte by byte. No column contains U+0000. */
  contains(column: Sql, text: string): Sql
  /** The values as the text of a JSON array. */
  jsonArray(values: readonly Sql[]): Sql
  /** The text as JSON, with quotes. No control character is left in it. */
  quoted(text: Sql): Sql
  /** The JSON array with null in place of an element, if it has that many. */
  withoutElement(json: Sql, index: number): Sql
  /** What is visible of the table `changes` now, as text. */
  readonly visibleChanges: Sql
  /** A condition on a row of `changes`: it was not among those that were visible, as `visibleChanges` said then. */
  isUnseen(visible: string): Sql
  /** A condition on a row of `changes` after those that were there before this transaction wrote: it wrote it. */
  readonly isOwnChange: Sql
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

/** Locks an account until the transaction ends, so that its concurrent requests cannot exceed a limit together. */
export const lockAccount = ({ forUpdate }: Dialect, account: number): Query =>
  sql`SELECT id FROM accounts WHERE id = ${account} ${forUpdate}`

/** Starts a statement with a table `item` of the rows. */
export function withItems(
  dialect: Dialect,
  columns: Readonly<Record<string, ValueType>>,
  rows: readonly (readonly unknown[])[],
): Sql {
  const given = dialect.jsonRows(JSON.stringify(rows), Object.values(columns))
  return sql`WITH item (${raw(Object.keys(columns).join(', '))}) AS (SELECT ${given.columns} FROM ${given.table})`
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

export const sqliteDialect: Dialect = {
  // Not LIKE: its wildcards would need escaping, and it folds only ASCII letters.
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`,
  jsonArray: (values) => sql`json_array(${join(values)})`,
  quoted: (text) => sql`json_quote(${text})`,
  withoutElement: (json, index) => sql`json_replace(${json}, ${`$[${index}]`}, NULL)`,
  // There is one writer, so ids grow in the order of commits.
  visibleChanges: raw('CAST(COALESCE((SELECT max(id) FROM changes), 0) AS TEXT)'),
  isUnseen: (visible) => sql`id > CAST(${visible} AS INTEGER)`,
  isOwnChange: raw('1 = 1'),
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

export const postgresDialect: Dialect = {
  // A trigram index serves LIKE. Without one, and for one or two characters, it visits all rows.
  contains: (column, text) =>
    // PostgreSQL rejects U+0000 as a parameter.
    text.includes('\0') ? raw('1 = 0') : sql`${column} LIKE ${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`}`,
  jsonArray: (values) => sql`json_build_array(${join(values)})::text`,
  quoted: (text) => sql`to_json(${text})::text`,
  withoutElement: (json, index) => sql`jsonb_set(${json}::jsonb, ${`{${index}}`}, 'null', false)::text`,
  visibleChanges: raw('pg_current_snapshot()::text'),
  // The first condition is for the index.
  isUnseen: (visible) => sql`tx >= pg_snapshot_xmin(${visible}::pg_snapshot)
    AND NOT pg_visible_in_snapshot(tx, ${visible}::pg_snapshot)`,
  isOwnChange: raw('tx = pg_current_xact_id_if_assigned()'),
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
