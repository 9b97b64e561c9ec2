import type { Dialect } from '../../storage/database/dialect.ts'
import { empty, limit, raw, sql } from '../../storage/database/sql.ts'
import type { ValueType } from '../../storage/database/batch.ts'

/** A domain's changes, newest first, as `changeOf` takes them, and the account's name behind them. */
export const changesOfDomain = (name: string, before: number | undefined, count: number) => sql`
  SELECT changes.id, at, topic, kind, key, account_id, before, after, accounts.name
  FROM changes LEFT JOIN accounts ON accounts.id = changes.account_id
  WHERE topic = 'domain' AND key = ${name} ${before === undefined ? empty : sql`AND changes.id < ${before}`}
  ORDER BY changes.id DESC ${limit(count)}`

export interface SeenRow {
  readonly first_at: number
  readonly last_at: number
  /** A JSON array of host names; null where there is no such name. */
  readonly servers: string | null
}

/** The name servers seen of a name, newest first. */
export const nameServersOf = (name: string, count: number) => sql<SeenRow>`
  SELECT first_at, last_at, servers FROM name_servers WHERE name = ${name}
  ORDER BY first_at DESC ${limit(count)}`

/** A JSON array of arrays as a table `item`, to begin a statement with. */
function items(dialect: Dialect, columns: Readonly<Record<string, ValueType>>, rows: readonly unknown[]) {
  const given = dialect.jsonRows(JSON.stringify(rows), Object.values(columns))
  return sql`WITH item (${raw(Object.keys(columns).join(', '))}) AS (
    SELECT ${given.columns} FROM ${given.table}
  )`
}

/** Until the transaction ends nobody else writes down what he saw: nodes that saw the same write it once. */
export const lockSightings = (dialect: Dialect) => sql`SELECT id FROM instance ${dialect.forUpdate}`

/**
 * For each name and moment whose name is recorded: what was seen of it up to then, and what afterwards. The joins stand
 * in the order in which they are to be made.
 * @param sightings names and moments, each name once
 */
export const neighbours = (dialect: Dialect, sightings: readonly (readonly [string, number])[]) => sql<{
  name: string
  first: number | null
  last: number | null
  servers: string | null
  next_first: number | null
  next_last: number | null
  next_servers: string | null
}>`
  ${items(dialect, { name: 'text', at: 'integer' }, sightings)}
  SELECT item.name, earlier.first_at AS first, earlier.last_at AS last, earlier.servers,
    later.first_at AS next_first, later.last_at AS next_last, later.servers AS next_servers
  FROM item CROSS JOIN domains
  LEFT JOIN name_servers AS earlier ON earlier.name = item.name AND earlier.first_at = (
    SELECT max(first_at) FROM name_servers AS one WHERE one.name = item.name AND one.first_at <= item.at)
  LEFT JOIN name_servers AS later ON later.name = item.name AND later.first_at = (
    SELECT min(first_at) FROM name_servers AS one WHERE one.name = item.name AND one.first_at > item.at)
  WHERE domains.name = item.name`

/** Of these names only the newest `count` entries stay. */
export const removeExcess = (dialect: Dialect, names: readonly string[], count: number) => sql`
  DELETE FROM name_servers WHERE (name, first_at) IN (
    ${items(
      dialect,
      { name: 'text' },
      names.map((name) => [name]),
    )}
    SELECT seen.name, seen.first_at FROM item CROSS JOIN name_servers AS seen
    WHERE seen.name = item.name AND seen.first_at <= (
      SELECT first_at FROM name_servers AS one WHERE one.name = item.name
      ORDER BY first_at DESC ${limit(1)} OFFSET CAST(${count} AS INTEGER))
  )`

export interface Deletion {
  readonly id: number
  readonly key: string
  readonly at: number
}

/** Deletions of records from before a moment, none that somebody may still follow, nor the newest change of all. */
export const deletionsBefore = (moment: number, count: number) => sql<Deletion>`
  SELECT id, key, at FROM changes
  WHERE topic = 'domain' AND kind = 'deleted' AND at < ${moment}
    AND +id <= (SELECT floor FROM change_log) AND +id < (SELECT max(id) FROM changes)
  ORDER BY at ${limit(count)}`

/** Forgets what those names were up to their deletion. What came of them afterwards stays. */
export const removeLives = (dialect: Dialect, deletions: readonly Deletion[]) => sql`
  DELETE FROM changes WHERE id IN (
    ${items(
      dialect,
      { name: 'text', upto: 'integer' },
      deletions.map(({ key, id }) => [key, id]),
    )}
    SELECT past.id FROM item CROSS JOIN changes AS past
    WHERE past.topic = 'domain' AND past.key = item.name AND past.id <= item.upto
  )`

/** The same for their name servers. */
export const removeSightings = (dialect: Dialect, deletions: readonly Deletion[]) => sql`
  DELETE FROM name_servers WHERE (name, first_at) IN (
    ${items(
      dialect,
      { name: 'text', at: 'integer' },
      deletions.map(({ key, at }) => [key, at]),
    )}
    SELECT seen.name, seen.first_at FROM item CROSS JOIN name_servers AS seen
    WHERE seen.name = item.name AND seen.last_at <= item.at
  )`
