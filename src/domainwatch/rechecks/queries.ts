import type { Dialect } from '../../storage/database/dialect.ts'
import { limit, sql, type Sql } from '../../storage/database/sql.ts'
import type { Table } from '../../storage/database/tables.ts'
import { hasKey } from '../watches/queries.ts'

/** Names that are looked up again, and when. */
export const CHECKS: Table = {
  name: 'dns_checks',
  key: ['name'],
  columns: { name: 'text', account_id: 'integer', due_at: 'integer' },
}

export interface Check {
  readonly name: string
  readonly account_id: number
  readonly due_at: number
}

/** Returns a row if any name may have to be looked up again. Tags are left to the caller, who knows which. */
export const anyToCheck = () => sql<{ found: number }>`
  SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM dns_checks)
    OR EXISTS (SELECT 1 FROM domains WHERE revision = 1) OR EXISTS (SELECT 1 FROM watches WHERE ${asksForChecks})`

/** The flag in the JSON of the filters; in a value, its quotes would be escaped. */
const asksForChecks: Sql = sql`filters LIKE ${'%"dns":"1"%'}`

/** A watch whose names are looked up again. */
export interface DnsWatch {
  readonly id: string
  readonly account_id: number
  /** As stored. They identify the watch together with its id, because they can be edited. */
  readonly filters: string
}

export const dnsWatches = (now: number) => sql<DnsWatch>`
  SELECT id, account_id, filters FROM watches WHERE ${asksForChecks} AND ${hasKey(now)} ORDER BY id`

/** Adds names. An existing one keeps its time, and belongs to everyone if it is wanted by more than a watch. */
export const addChecks = (dialect: Dialect, checks: readonly Check[]) => {
  const rows = checks.map(({ name, account_id, due_at }) => [name, account_id, due_at])
  const given = dialect.jsonRows(JSON.stringify(rows), ['text', 'integer', 'integer'])
  return sql`
  INSERT INTO dns_checks (name, account_id, due_at)
  SELECT ${given.columns} FROM ${given.table} WHERE 1 = 1
  ON CONFLICT (name) DO UPDATE SET account_id = excluded.account_id
  WHERE excluded.account_id = 0 AND dns_checks.account_id <> 0`
}

/** Selects the names of an owner whose time has come, the longest overdue first. */
export const dueChecks = (owner: number, now: number, count: number) => sql<Check>`
  SELECT name, account_id, due_at FROM dns_checks WHERE account_id = ${owner} AND due_at <= ${now}
  ORDER BY due_at ${limit(count)}`

/** Counts the names of an owner that are due at a time, up to `max`. */
export const countChecks = (owner: number, dueBefore: number, max: number) => sql<{ count: number }>`
  SELECT count(*) AS count FROM (
    SELECT 1 FROM dns_checks WHERE account_id = ${owner} AND due_at <= ${dueBefore} ${limit(max)}) AS counted`

export const nextOwner = (after: number) => sql<{ owner: number | null }>`
  SELECT min(account_id) AS owner FROM dns_checks WHERE account_id > ${after}`

/** Assigns names of an account without such watches to everyone, so that the next check decides about them. */
export const releaseChecks = (owner: number, count: number) => sql`
  UPDATE dns_checks SET account_id = 0 WHERE name IN (
    SELECT name FROM dns_checks WHERE account_id = ${owner} ${limit(count)})`

/** Selects names that are due later than one interval allows, because it was longer before. */
export const lateChecks = (owner: number, after: number, count: number) => sql<Check>`
  SELECT name, account_id, due_at FROM dns_checks WHERE account_id = ${owner} AND due_at > ${after}
  ORDER BY due_at ${limit(count)}`
