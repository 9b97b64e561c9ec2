import type { Dialect } from '../dialect.ts'
import { raw, sql } from '../sql.ts'

export const postgresDialect: Dialect = {
  // LIKE is what a trigram index serves; without one, and for one or two characters, it visits the rows.
  // Text never holds U+0000 here, and the server refuses it as a parameter.
  contains: (column, text) =>
    text.includes('\0') ? raw('1 = 0') : sql`${column} LIKE ${`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`}`,
  forUpdate: raw('FOR UPDATE'),
  now: raw('(extract(epoch FROM clock_timestamp()) * 1000)::bigint'),
}
