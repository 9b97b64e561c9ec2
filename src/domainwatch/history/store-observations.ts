import type { Database } from '../../storage/database/database.ts'
import { removeRows, storeRows, type Row } from '../../storage/database/rows.ts'
import { copiedTables, type Table } from '../../storage/database/tables.ts'
import { lockObservations, neighbours, removeExcess } from './queries.ts'

/** Entries kept per name; the oldest are removed. Daily changes of name servers fill it in three months. */
export const MAX_ENTRIES = 100

const table: Table | undefined = copiedTables.find(({ name }) => name === 'name_servers')

/** A period in which the DNS gave the same answer for a name. Times in milliseconds since 1970. */
export interface Observation {
  readonly first: number
  readonly last: number
  /** A JSON array of host names; null if the name does not exist. */
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

/** Stores one observation per name. Ignores names without a record. */
export async function storeObservations(
  database: Database,
  observations: ReadonlyMap<string, Observation>,
): Promise<void> {
  const { dialect } = database
  if (table === undefined) throw new Error('there is no table name_servers')
  await database.transaction(async (tx) => {
    await tx.all(lockObservations(dialect))
    const items = [...observations].map(([name, { first }]) => [name, first] as const)
    const stored: Row[] = []
    const replaced: Row[] = []
    const grown: string[] = []
    for (const row of await tx.all(neighbours(dialect, items))) {
      const seen = observations.get(row.name)
      if (seen === undefined) continue
      const merge = mergeObservation(
        seen,
        observation(row.first, row.last, row.servers),
        observation(row.next_first, row.next_last, row.next_servers),
      )
      if (merge === undefined) continue
      const { entry } = merge
      stored.push([row.name, entry.first, entry.last, entry.servers])
      if (merge.replaced !== undefined) replaced.push([row.name, merge.replaced])
      if (merge.isNew) grown.push(row.name)
    }
    if (replaced.length > 0) await removeRows(tx, dialect, table, replaced)
    if (stored.length > 0) await storeRows(tx, dialect, table, stored)
    if (grown.length > 0) await tx.run(removeExcess(dialect, grown, MAX_ENTRIES))
  })
}

function observation(
  first: number | null,
  last: number | null,
  servers: string | null,
): Observation | undefined {
  return first === null || last === null ? undefined : { first, last, servers }
}
