import { sql, type Sql } from '../../storage/database/sql.ts'
import { hasKey } from '../../deliveries/queries-deliveries.ts'

/** Returns a row if any name may have to be looked up again. Tags are left to the caller, who knows which. */
export const anyToCheck = () => sql<{ found: number }>`
  SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM domains WHERE revision = 1)
    OR EXISTS (SELECT 1 FROM watches WHERE ${asksForChecks})`

/** The flag in the JSON of the filters; in a value, its quotes would be escaped. */
const asksForChecks: Sql = sql`filters LIKE ${'%"dns":"1"%'}`

/** A watch whose names are looked up again. */
export interface DnsWatch {
  readonly account_id: number
  /** As stored. */
  readonly filters: string
}

export const dnsWatches = (now: number) => sql<DnsWatch>`
  SELECT account_id, filters FROM watches WHERE ${asksForChecks} AND ${hasKey(now)} ORDER BY id`
