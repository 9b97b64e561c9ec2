import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Catalogue } from '../search/catalogue.ts'
import { catalogueNames, type Digests } from './catalogue-names.ts'
import { databaseNames } from './database-names.ts'
import type { NameBlock } from './matcher.ts'

/** All names as they are now: from memory where all records are there, else from the database. */
export async function* allNames(
  database: Database,
  clock: Clock,
  catalogue: Pick<Catalogue, 'current'>,
  digests: Digests,
): AsyncGenerator<NameBlock> {
  const shelves = await catalogue.current()
  if (shelves === undefined) yield* databaseNames(database, clock)
  else yield* catalogueNames(shelves.registered, digests, clock.now())
}
