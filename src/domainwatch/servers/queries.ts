import { withItems, type Dialect } from '../../storage/database/dialect.ts'
import { limit, raw, sql } from '../../storage/database/sql.ts'

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
  ${withItems(
    dialect,
    { name: 'text' },
    names.map((name) => [name]),
  )}
  SELECT entry.kind, entry.server, entry.name FROM item CROSS JOIN observed_servers AS entry
  WHERE entry.name = item.name`

/** Deletes the servers of names that were deleted, unless the DNS has been observed since. */
export const removeServers = (
  dialect: Dialect,
  deletions: readonly { readonly key: string; readonly at: number }[],
) => {
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
