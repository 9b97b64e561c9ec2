import { DOMAIN_FIELDS } from '../../storage/database/changes/change.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import { limit, raw, sql } from '../../storage/database/sql.ts'

/** The fields of a record as changes hold them, without the note: it may be long, and nothing in memory needs it. */
const STATE = DOMAIN_FIELDS.map((field) => raw(field === 'note' ? 'NULL' : field))

/**
 * Records after a name as one text, which costs a tenth of rows: elements of a JSON array, `[name, state]`, in no order.
 */
export const recordsAsText = (dialect: Dialect, after: string, count: number) => sql<{
  last: string | null
  count: number
  text: string | null
}>`
  SELECT max(name) AS last, count(*) AS count,
    string_agg('[' || ${dialect.quoted(sql`name`)} || ',' || ${dialect.jsonArray(STATE)} || ']', ',') AS text
  FROM (SELECT * FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}) AS page`
