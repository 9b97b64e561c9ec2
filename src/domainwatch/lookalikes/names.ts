import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import type { NameIndex } from '../list/name-index.ts'
import { catalogueNames, type Digests } from './catalogue-names.ts'
import { databaseNames } from './database-names.ts'
import type { NameBlock } from './matcher.ts'

/** All names as they are now: from memory where all records are there, else from the database. */
export async function* allNames(
  database: Database,
  clock: Clock,
  nameIndex: Pick<NameIndex, 'current'>,
  digests: Digests,
): AsyncGenerator<NameBlock> {
  const segments = await nameIndex.current()
  if (segments === undefined) yield* databaseNames(database, clock)
  else yield* catalogueNames(segments.registered, digests, clock.now())
}
