import type { Dialect, GlobPart } from '../dialect.ts'
import { join, raw, sql, type Sql } from '../sql.ts'

export const postgresDialect: Dialect = {
  // A trigram index serves LIKE. Without one, and for one or two characters, it visits all rows. Text never contains
  // U+0000 here, and the server rejects it as a parameter.
  contains: (column, text) => like(column, [MANY, text, MANY]),
  glob: like,
  jsonArray: (values) => sql`json_build_array(${join(values)})::text`,
  quoted: (text) => sql`to_json(${text})::text`,
  hasDigit: (column) => sql`${column} ~ '[0-9]'`,
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
  givenIds: raw('OVERRIDING SYSTEM VALUE'),
  // The third argument: without rows the next id is the first one.
  continueIds: (table, column) => sql`
    SELECT setval(pg_get_serial_sequence(${table}, ${column}), COALESCE(max(${raw(column)}), 1), max(${raw(column)}) IS NOT NULL)
    FROM ${raw(table)}`,
  schemaVersion: sql`SELECT version FROM schema_version`,
  now: raw('(extract(epoch FROM clock_timestamp()) * 1000)::bigint'),
}

const MANY: GlobPart = { wild: 'many' }

function like(column: Sql, parts: readonly GlobPart[]): Sql {
  const isPossible = parts.every((part) => typeof part !== 'string' || !part.includes('\0'))
  return isPossible ? sql`${column} LIKE ${parts.map(likeText).join('')}` : raw('1 = 0')
}

function likeText(part: GlobPart): string {
  if (typeof part === 'string') return part.replaceAll(/[\\%_]/g, '\\$&')
  return part.wild === 'many' ? '%' : '_'
}
