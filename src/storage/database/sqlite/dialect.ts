import type { Dialect, GlobPart } from '../dialect.ts'
import { empty, join, raw, sql } from '../sql.ts'

export const sqliteDialect: Dialect = {
  // Not LIKE: its wildcards would need escaping, and it folds only ASCII letters.
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`,
  // The operator ignores everything after U+0000.
  glob: (column, parts) =>
    parts.some((part) => typeof part === 'string' && part.includes('\0'))
      ? raw('1 = 0')
      : sql`${column} GLOB ${parts.map(globText).join('')}`,
  jsonArray: (values) => sql`json_array(${join(values)})`,
  quoted: (text) => sql`json_quote(${text})`,
  hasDigit: (column) => sql`${column} GLOB '*[0-9]*'`,
  // Only ANALYZE creates `sqlite_stat1`, and it reads the whole table.
  plansAsWritten: true,
  // There is one writer.
  forUpdate: empty,
  exclusively: () => undefined,
  jsonRows: (json, types) => ({
    table: sql`json_each(${json})`,
    columns: raw(types.map((_, i) => `value ->> ${i}`).join(', ')),
  }),
  givenIds: empty,
  continueIds: () => undefined,
  schemaVersion: sql`SELECT user_version AS version FROM pragma_user_version`,
  now: raw(`CAST(unixepoch('subsec') * 1000 AS INTEGER)`),
}

function globText(part: GlobPart): string {
  if (typeof part === 'string') return part.replaceAll(/[*?[]/g, '[$&]')
  return part.wild === 'many' ? '*' : '?'
}
