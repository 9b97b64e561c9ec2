import { withItems, type Dialect } from '../../storage/database/dialect.ts'
import { DOMAIN_FIELDS } from '../../storage/database/changes/change.ts'
import { empty, limit, raw, sql, type Sql } from '../../storage/database/sql.ts'
import type { Table } from '../../storage/database/tables.ts'

/** Selects a domain's changes, newest first: the columns that `toChange` reads, then the account's name. */
export const changesOfDomain = (name: string, before: number | undefined, count: number) => sql`
  SELECT changes.id, at, topic, kind, key, account_id, before, after, accounts.name
  FROM changes LEFT JOIN accounts ON accounts.id = changes.account_id
  WHERE topic = 'domain' AND key = ${name} ${before === undefined ? empty : sql`AND changes.id < ${before}`}
  ORDER BY changes.id DESC ${limit(count)}`

export interface ObservationRow {
  readonly first_at: number
  readonly last_at: number
  /** A JSON array of host names or MX records; null if the name does not exist. */
  readonly servers: string | null
}

const OBSERVATION_TABLES = { ns: 'name_servers', mx: 'mail_servers' } as const
export type ObservedType = keyof typeof OBSERVATION_TABLES

/** The table of one type of observations, to store whole rows in. */
export const observationTable = (type: ObservedType): Table => ({
  name: OBSERVATION_TABLES[type],
  key: ['name', 'first_at'],
  columns: { name: 'text', first_at: 'integer', last_at: 'integer', servers: 'text' },
})

const tableOf = (type: ObservedType) => raw(OBSERVATION_TABLES[type])

/** Selects the observed name servers, or MX records, of a name, newest first. */
export const toObservations = (type: ObservedType, name: string, count: number) => sql<ObservationRow>`
  SELECT first_at, last_at, servers FROM ${tableOf(type)} WHERE name = ${name}
  ORDER BY first_at DESC ${limit(count)}`

/** Starts a statement with a table `item` of names. */
export const withNames = (dialect: Dialect, names: readonly string[]): Sql =>
  withItems(
    dialect,
    { name: 'text' },
    names.map((name) => [name]),
  )

/** Selects the newest entry of each name that has a record. The planner has to keep the order of the joins. */
export const newestObservations = (dialect: Dialect, type: ObservedType, names: readonly string[]) => sql<
  { name: string } & ({ first: number; last: number; servers: string | null } | { first: null; last: null })
>`
  ${withNames(dialect, names)}
  SELECT item.name, entry.first_at AS first, entry.last_at AS last, entry.servers
  FROM item CROSS JOIN domains
  LEFT JOIN ${tableOf(type)} AS entry ON entry.name = item.name AND entry.first_at = (
    SELECT max(first_at) FROM ${tableOf(type)} AS one WHERE one.name = item.name)
  WHERE domains.name = item.name`

/** Deletes all but the newest `count` entries of each name. */
export const removeExcess = (
  dialect: Dialect,
  type: ObservedType,
  names: readonly string[],
  count: number,
) => sql`
  DELETE FROM ${tableOf(type)} WHERE (name, first_at) IN (
    ${withNames(dialect, names)}
    SELECT entry.name, entry.first_at FROM item CROSS JOIN ${tableOf(type)} AS entry
    WHERE entry.name = item.name AND entry.first_at <= (
      SELECT first_at FROM ${tableOf(type)} AS one WHERE one.name = item.name
      ORDER BY first_at DESC ${limit(1)} OFFSET CAST(${count} AS INTEGER))
  )`

/** A change of what the DNS says about a name: JSON as observations hold it. */
export interface DnsChange {
  readonly name: string
  readonly type: ObservedType
  readonly from: string | null
  readonly to: string | null
}

/** Adds changes of the topic `dns` to the change log, with the records that they are about. */
export const insertDnsChanges = (dialect: Dialect, changes: readonly DnsChange[]) => {
  const columns = DOMAIN_FIELDS.map((column) => raw(`domains.${column}`))
  return sql`
  ${withItems(
    dialect,
    { name: 'text', type: 'text', was: 'text', became: 'text' },
    changes.map(({ name, type, from, to }) => [name, type, from, to]),
  )}
  INSERT INTO changes (at, topic, kind, key, before, after)
  SELECT ${dialect.now}, 'dns', item.type, domains.name, ${dialect.jsonArray([raw('item.was'), ...columns])},
    ${dialect.jsonArray([raw('item.became'), ...columns])}
  FROM item CROSS JOIN domains WHERE domains.name = item.name`
}

interface Deletion {
  readonly id: number
  readonly key: string
  readonly at: number
}

/** Selects deletions before `time`, except those that readers may still follow and the newest change of all. */
export const deletionsBefore = (time: number, count: number) => sql<Deletion>`
  SELECT id, key, at FROM changes
  WHERE topic = 'domain' AND kind = 'deleted' AND at < ${time}
    AND +id <= (SELECT floor FROM change_log) AND +id < (SELECT max(id) FROM changes)
  ORDER BY at ${limit(count)}`

/** Deletes the changes of each name up to its deletion. Later ones stay. */
export const removeChangesUpTo = (dialect: Dialect, deletions: readonly Deletion[]) => sql`
  DELETE FROM changes WHERE id IN (
    ${withItems(
      dialect,
      { name: 'text', upto: 'integer' },
      deletions.map(({ key, id }) => [key, id]),
    )}
    SELECT past.id FROM item CROSS JOIN changes AS past
    WHERE past.topic = 'domain' AND past.key = item.name AND past.id <= item.upto
  )`

/** Deletes the observations of each name up to its deletion. */
export const removeObservations = (
  dialect: Dialect,
  type: ObservedType,
  deletions: readonly Deletion[],
) => sql`
  DELETE FROM ${tableOf(type)} WHERE (name, first_at) IN (
    ${withItems(
      dialect,
      { name: 'text', at: 'integer' },
      deletions.map(({ key, at }) => [key, at]),
    )}
    SELECT entry.name, entry.first_at FROM item CROSS JOIN ${tableOf(type)} AS entry
    WHERE entry.name = item.name AND entry.last_at <= item.at
  )`

/** What a page of an account's changes is read from. */
interface ChangeSpan {
  /** Ids between these, without them. */
  readonly after: number
  readonly before: number
  /** Milliseconds since 1970. */
  readonly since: number
}

/**
 * Selects an account's changes of what existed before and still does, newest first: what `toChange` reads. With a condition on the
 * topic, a planner without statistics would go through the index of all names.
 */
export const changesByAccount = (account: number, { after, before, since }: ChangeSpan, count: number) => sql`
  SELECT id, at, topic, kind, key, account_id, before, after FROM changes
  WHERE id > ${after} AND id < ${before} AND account_id = ${account} AND at >= ${since}
    AND before IS NOT NULL AND after IS NOT NULL
  ORDER BY id DESC ${limit(count)}`

/** What names are seen with: name servers, mail servers and addresses. */
export type ServerKind = 'ns' | 'mx' | 'ip'

export interface SeenServer {
  readonly kind: ServerKind
  readonly server: string
  readonly name: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Stores that names were seen with servers. Ignores names without a record. */
export const storeServers = (dialect: Dialect, seen: readonly SeenServer[]) => {
  const rows = seen.map(({ kind, server, name, at }) => [kind, server, name, at])
  return sql`
  ${withItems(dialect, { kind: 'text', server: 'text', name: 'text', at: 'integer' }, rows)}
  INSERT INTO observed_servers (kind, server, name, last_at)
  SELECT item.kind, item.server, item.name, item.at FROM item CROSS JOIN domains WHERE domains.name = item.name
  ON CONFLICT (kind, server, name) DO UPDATE SET last_at = excluded.last_at
  WHERE excluded.last_at > observed_servers.last_at`
}

/** Selects names that were seen with a server, in their order, after one. */
export const namesSeenWith = (kind: ServerKind, server: string, after: string, count: number) => sql<{
  name: string
}>`
  SELECT name FROM observed_servers WHERE kind = ${kind} AND server = ${server} AND name > ${after}
  ORDER BY name ${limit(count)}`

/** Selects the servers that names were seen with. */
export const getServers = (dialect: Dialect, names: readonly string[]) => sql<{
  kind: ServerKind
  server: string
  name: string
}>`
  ${withNames(dialect, names)}
  SELECT entry.kind, entry.server, entry.name FROM item CROSS JOIN observed_servers AS entry
  WHERE entry.name = item.name`

/** Deletes the servers of names that were deleted, unless the DNS has been observed since. */
export const removeServers = (dialect: Dialect, deletions: readonly Deletion[]) => {
  const rows = deletions.map(({ key, at }) => [key, at])
  const isForgotten = ['name_servers', 'mail_servers'].map((table) =>
    raw(`NOT EXISTS (SELECT 1 FROM ${table} AS kept WHERE kept.name = item.name)`),
  )
  return sql`
  DELETE FROM observed_servers WHERE (kind, server, name) IN (
    ${withItems(dialect, { name: 'text', at: 'integer' }, rows)}
    SELECT entry.kind, entry.server, entry.name FROM item CROSS JOIN observed_servers AS entry
    WHERE entry.name = item.name AND entry.last_at <= item.at AND ${isForgotten[0]} AND ${isForgotten[1]}
  )`
}
