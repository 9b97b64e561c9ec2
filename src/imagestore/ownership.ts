import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database/database.ts'
import { instance, someBlobs } from './queries.ts'

/** Whether what is in a store is this database's to remove. */
export type Ownership =
  | { readonly kind: 'own' }
  /** It is another database's. */
  | { readonly kind: 'foreign'; readonly owner: string }
  /** It is nobody's yet, and nothing speaks for it being this database's. */
  | { readonly kind: 'strange' }

export const FOREIGN_STORE = 'the image store belongs to another database'
export const STRANGE_STORE =
  'the image store has no owner, and holds none of the images that the database knows'

/** The store cannot be written to: what it holds would be in another database's way, or lost. */
class NotOurStore extends Error {
  constructor(ownership: Exclude<Ownership, { readonly kind: 'own' }>) {
    super(ownership.kind === 'foreign' ? `${FOREIGN_STORE}, ${ownership.owner}` : STRANGE_STORE)
  }
}

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

/** Answers other than yes are asked for again after this. */
const AGAIN_MS = 5_000

/** Ownership, asked for no more often than needed: once it is ours it stays ours. */
export class Owner {
  readonly #ask: () => Promise<Ownership>
  #asked: Promise<Ownership> | undefined

  constructor(database: Database, blobs: BlobStore) {
    this.#ask = () => ownershipOf(database, blobs, true)
  }

  /** Asks now. */
  async check(): Promise<Ownership> {
    const asked = this.#ask()
    this.#asked = asked
    const forget = () => {
      if (this.#asked === asked) this.#asked = undefined
    }
    try {
      const ownership = await asked
      if (ownership.kind !== 'own') setTimeout(forget, AGAIN_MS).unref()
      return ownership
    } catch (error) {
      forget()
      throw error
    }
  }

  /** @throws NotOurStore */
  async assertOwn(): Promise<void> {
    const ownership = await (this.#asked ?? this.check())
    if (ownership.kind !== 'own') throw new NotOurStore(ownership)
  }
}

/** Makes the store this database's, whosever it was. */
export async function claimStore(database: Database, blobs: BlobStore): Promise<void> {
  const own = (await database.first(instance()))?.id
  await blobs.clearOwner()
  await blobs.owner(own)
}

async function isFamiliar(database: Database, blobs: BlobStore): Promise<boolean> {
  const recorded = await database.all(someBlobs(SAMPLE))
  for (const { key } of recorded) {
    const found = await blobs.openWhole(key)
    found?.body.destroy()
    if (found !== undefined) return true
  }
  if (recorded.length > 0) return false
  for await (const _ of blobs.keys()) return false
  return true
}
