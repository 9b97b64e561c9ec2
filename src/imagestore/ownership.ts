import type { BlobStore } from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import { instance, someBlobs } from './queries.ts'

/** Whether what is in a store is this database's to remove. */
export type Ownership =
  | { readonly kind: 'own' }
  /** It is another database's. */
  | { readonly kind: 'foreign'; readonly owner: string }
  /** It is nobody's yet, and nothing speaks for it being this database's. */
  | { readonly kind: 'strange' }

/** Blobs looked for in a store without an owner: one of them there is enough. */
const SAMPLE = 10

/**
 * Two databases that were pointed at one store by mistake must never remove each other's blobs. So the store names its
 * owner, and only for the owner is a blob without a record a leftover. A store that has no owner yet is claimed by the
 * database that knows what is in it, or where neither holds anything.
 */
export async function ownershipOf(
  database: Database,
  blobs: BlobStore,
  mayClaim: boolean,
): Promise<Ownership> {
  const own = (await database.first(instance()))?.id
  if (own === undefined) throw new Error('the database has no id')
  const owner = await blobs.owner()
  if (owner === own) return { kind: 'own' }
  if (owner !== undefined) return { kind: 'foreign', owner }
  if (!(await isFamiliar(database, blobs))) return { kind: 'strange' }
  if (!mayClaim) return { kind: 'own' }
  const claimed = await blobs.owner(own)
  return claimed === own ? { kind: 'own' } : { kind: 'foreign', owner: claimed ?? '' }
}

async function isFamiliar(database: Database, blobs: BlobStore): Promise<boolean> {
  const recorded = await database.all(someBlobs(SAMPLE))
  for (const { key } of recorded) {
    const found = await blobs.whole(key)
    found?.body.destroy()
    if (found !== undefined) return true
  }
  if (recorded.length > 0) return false
  for await (const _ of blobs.keys()) return false
  return true
}
