import type { Dialect } from '../dialect.ts'
import { empty, raw, sql } from '../sql.ts'

export const sqliteDialect: Dialect = {
  // Not LIKE: its wildcards would need escaping, and it folds only ASCII letters.
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`,
  // There is one writer.
  forUpdate: empty,
  now: raw(`CAST(unixepoch('subsec') * 1000 AS INTEGER)`),
}
