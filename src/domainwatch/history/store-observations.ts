import { acceptsMail } from '../events/event.ts'
import { toSeenServers } from '../servers/index.ts'
import { storeServers, type SeenServer } from '../servers/queries.ts'
import type { Transaction } from '../../storage/database/database.ts'
import { lockInstance, type Dialect } from '../../storage/database/dialect.ts'
import { removeRows, storeRows, type Row } from '../../storage/database/tables.ts'
import {
  insertDnsChanges,
  neighbours,
  observationTable,
  removeExcess,
  type DnsChange,
  type ObservedType,
} from './queries.ts'

/** Entries kept per name; the oldest are removed. Daily changes of name servers fill it in three months. */
export const MAX_ENTRIES = 100

/** A period in which the DNS gave the same answer for a name. Times in milliseconds since 1970. */
export interface Observation {
  readonly first: number
  readonly last: number
  /** A JSON array of host names, or of MX records; null if the name does not exist. */
  readonly servers: string | null
}

/** A write that adds an observation to the stored entries of a name. */
export interface Merge {
  /** The entry to store. It replaces an entry with the same `first`. */
  readonly entry: Observation
  /** `first` of an entry to remove, because `entry` contains it. */
  readonly replaced?: number
  /** True if the name has one entry more afterwards. */
  readonly isNew: boolean
}

/**
 * Merges an observation into the stored entries of its name, or returns undefined if they contain it. It extends the entry
 * before or after it if that has the same answer. Nodes store observations in any order.
 * @param earlier the last entry with `first` <= `seen.first`
 * @param later the first entry with `first` > `seen.first`
 */
export function mergeObservation(
  seen: Observation,
  earlier: Observation | undefined,
  later: Observation | undefined,
): Merge | undefined {
  if (earlier !== undefined && earlier.servers === seen.servers) {
    return seen.last > earlier.last ? { entry: { ...earlier, last: seen.last }, isNew: false } : undefined
  }
  if (later !== undefined && later.servers === seen.servers) {
    return {
      entry: { ...later, first: seen.first, last: Math.max(later.last, seen.last) },
      replaced: later.first,
      isNew: false,
    }
  }
  // `first` is part of the primary key, so two different answers cannot share it.
  const first = earlier?.first === seen.first ? seen.first + 1 : seen.first
  return { entry: { ...seen, first, last: Math.max(first, seen.last) }, isNew: true }
}

/**
 * Stores one observation per name, and the changes that it shows; of addresses only with which names were seen. Ignores names
 * without a record.
 */
export async function storeObservations(
  tx: Transaction,
  dialect: Dialect,
  type: ObservedType | 'ip',
  observations: ReadonlyMap<string, Observation>,
): Promise<void> {
  if (type === 'ip') {
    const seen = [...observations].flatMap(([name, { last, servers: addresses }]) =>
      toSeenServers(type, name, last, addresses),
    )
    if (seen.length > 0) await tx.run(storeServers(dialect, seen))
    return
  }
  const table = observationTable(type)
  // So that nodes store the same observation once.
  await tx.all(lockInstance(dialect))
  const items = [...observations].map(([name, { first }]) => [name, first] as const)
  const stored: Row[] = []
  const replaced: Row[] = []
  const grown: string[] = []
  const changes: DnsChange[] = []
  const servers: SeenServer[] = []
  for (const row of await tx.all(neighbours(dialect, type, items))) {
    const seen = observations.get(row.name)
    if (seen === undefined) continue
    const earlier = observation(row.first, row.last, row.servers)
    const later = observation(row.next_first, row.next_last, row.next_servers)
    const merge = mergeObservation(seen, earlier, later)
    if (merge === undefined) continue
    const { entry } = merge
    stored.push([row.name, entry.first, entry.last, entry.servers])
    if (merge.replaced !== undefined) replaced.push([row.name, merge.replaced])
    const at = seen.last
    if (merge.isNew) servers.push(...toSeenServers(type, row.name, at, entry.servers))
    else continue
    grown.push(row.name)
    // An observation that arrives late changes the past only, and the first one shows no change.
    const isNews =
      earlier !== undefined && later === undefined && isRelevant(type, earlier.servers, seen.servers)
    if (isNews) changes.push({ name: row.name, type, from: earlier.servers, to: seen.servers })
  }
  if (replaced.length > 0) await removeRows(tx, dialect, table, replaced)
  if (stored.length > 0) await storeRows(tx, dialect, table, stored)
  if (grown.length > 0) await tx.run(removeExcess(dialect, type, grown, MAX_ENTRIES))
  if (servers.length > 0) await tx.run(storeServers(dialect, servers))
  if (changes.length > 0) await tx.run(insertDnsChanges(dialect, changes))
}

/** Any other name servers are news; of MX records only that the domain begins or ceases to accept mail. */
function isRelevant(type: ObservedType, from: string | null, to: string | null): boolean {
  const mail = (servers: string | null) => acceptsMail(JSON.parse(servers ?? '[]'))
  return type === 'ns' || mail(from) !== mail(to)
}

function observation(
  first: number | null,
  last: number | null,
  servers: string | null,
): Observation | undefined {
  return first === null || last === null ? undefined : { first, last, servers }
}
