import type { Database } from '../../storage/database/database.ts'
import { removeRows, storeRows, type Row } from '../../storage/database/rows.ts'
import { copiedTables, type Table } from '../../storage/database/tables.ts'
import { lockSightings, neighbours, removeExcess } from './queries.ts'
import { place, type Sighting } from './sighting.ts'

/** Entries kept of one name; the oldest make room. One that changes its servers daily fills it in three months. */
export const MAX_ENTRIES = 100

const table: Table | undefined = copiedTables.find(({ name }) => name === 'name_servers')

/** Writes down what was seen of some names, those of them that are recorded. */
export async function storeSightings(
  database: Database,
  sightings: ReadonlyMap<string, Sighting>,
): Promise<void> {
  const { dialect } = database
  if (table === undefined) throw new Error('there is no table name_servers')
  await database.transaction(async (tx) => {
    await tx.all(lockSightings(dialect))
    const asked = [...sightings].map(([name, { first }]) => [name, first] as const)
    const stored: Row[] = []
    const replaced: Row[] = []
    const grown: string[] = []
    for (const row of await tx.all(neighbours(dialect, asked))) {
      const seen = sightings.get(row.name)
      if (seen === undefined) continue
      const placed = place(
        seen,
        sighting(row.first, row.last, row.servers),
        sighting(row.next_first, row.next_last, row.next_servers),
      )
      if (placed === undefined) continue
      const { entry, instead, isNew } = placed
      stored.push([row.name, entry.first, entry.last, entry.servers])
      if (instead !== undefined) replaced.push([row.name, instead])
      if (isNew) grown.push(row.name)
    }
    if (replaced.length > 0) await removeRows(tx, dialect, table, replaced)
    if (stored.length > 0) await storeRows(tx, dialect, table, stored)
    if (grown.length > 0) await tx.run(removeExcess(dialect, grown, MAX_ENTRIES))
  })
}

function sighting(first: number | null, last: number | null, servers: string | null): Sighting | undefined {
  return first === null || last === null ? undefined : { first, last, servers }
}
