import type { Dialect } from '../dialect.ts'
import { join, raw, sql } from '../sql.ts'

export const sqliteDialect: Dialect = {
  // Not LIKE: its wildcards would need escaping, and it folds only ASCII letters.
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`,

  jsonArray: (fields) => {
    const pairs = Object.entries(fields).map(([name, value]) => sql`${raw(`'${name}'`)}, ${value}`)
    return sql`json_group_array(json_object(${join(pairs)}))`
  },
}
