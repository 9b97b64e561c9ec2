import type { SqlValue } from '../storage/database/sql.ts'
import type { Place } from './queries.ts'

/**
 * A page's rows (`COLUMNS` of the queries) as a JSON array of records. Written by hand because building a
 * thousand objects only to serialise them takes twice as long. Names and dates hold no character that JSON
 * escapes; agents may, and repeat, so each is escaped once.
 */
export function recordsToJson(rows: readonly SqlValue[][]): string {
  const agents = new Map<SqlValue | undefined, string>()
  let json = '['
  for (const [name, length, agent, status, reserved, revision, discardedAt, dateReg, dateMod] of rows) {
    let quoted = agents.get(agent)
    if (quoted === undefined) {
      quoted = JSON.stringify(agent)
      agents.set(agent, quoted)
    }
    if (json.length > 1) json += ','
    json +=
      `{"name":"${name}","length":${length},"agent":${quoted},"status":${status},"reserved":${reserved},` +
      `"revision":${revision},"discarded":${discardedAt === null ? 0 : 1},` +
      `"date_reg":"${dateReg}","date_mod":"${dateMod}"}`
  }
  return `${json}]`
}

/** Where a row stands in the list's order. */
export function placeOfRow(row: readonly SqlValue[], sortKey: 'date_reg' | 'deleted_at'): Place {
  return { key: String(row[sortKey === 'deleted_at' ? 9 : 7]), name: String(row[0]) }
}
