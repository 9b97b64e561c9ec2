import { batchesOf } from '../lib/concurrency.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database/database.ts'
import { heldKeys, instance, someBlobs, removalsAmong } from './queries.ts'

/**
 * Suffix of the key of a blob whose bytes are lost. Its rows stay: applications still see what they lost, can delete it, or
 * upload the same bytes again. The key is made of the old one, so that bytes that reappear (from a backup) are recognised.
 */
const LOST = '.lost'

export const isLost = (key: string): boolean => key.endsWith(LOST)

export const lostKey = (key: string): string => (isLost(key) ? key : key + LOST)

/** The key of the bytes, lost or not. */
export const bytesKey = (key: string): string => (isLost(key) ? key.slice(0, -LOST.length) : key)

/** Keys looked up in one statement: two parameters each, of which SQLite permits 32,766. */
const LOOKUP_BATCH_KEYS = 1_000

export interface UnreferencedKeys {
  readonly listed: number
  /** Left by an upload that was interrupted between its bytes and its record. */
  readonly orphans: readonly string[]
  /** May belong to a running upload. */
  readonly young: readonly string[]
  /** Of deleted images, about to be removed. */
  readonly trashed: readonly string[]
}

/**
 * Lists all keys in the store that belong to no image, in batches. A key that is removed between listing and look-up counts as an
 * orphan.
 * @param since orphans were written before this, in milliseconds since 1970
 */
export async function* findUnreferenced(
  database: Database,
  blobs: BlobStore,
  since: number,
): AsyncGenerator<UnreferencedKeys> {
  const { scanner } = database
  for await (const listed of batchesOf(blobs.keys(), LOOKUP_BATCH_KEYS)) {
    const keys = listed.map(({ key }) => key)
    const rows = await scanner.all(heldKeys(keys.flatMap((key) => [key, lostKey(key)])))
    const held = new Set(rows.map(({ key }) => bytesKey(key)))
    // Read after the blobs, to include what is deleted in between.
    const trash = new Set((await scanner.all(removalsAmong(keys))).map(({ key }) => key))
    const unreferenced = listed.filter(({ key }) => !held.has(bytesKey(key)))
    const select = (isSelected: (blob: (typeof listed)[number]) => boolean) =>
      unreferenced.filter(isSelected).map(({ key }) => key)
    yield {
      listed: listed.length,
      orphans: select(({ key, writtenAt }) => !trash.has(key) && writtenAt <= since),
      young: select(({ key, writtenAt }) => !trash.has(key) && writtenAt > since),
      trashed: select(({ key }) => trash.has(key)),
    }
  }
}

/** Whether this database may remove what it does not know from the store. */
export type Ownership =
  | { readonly kind: 'own' }
  /** The store belongs to another database. */
  | { readonly kind: 'foreign'; readonly owner: string }
  /** The store has no owner, and holds none of this database's images. */
  | { readonly kind: 'strange' }

export const FOREIGN_STORE = 'the image store belongs to another database'
export const STRANGE_STORE =
  'the image store has no owner, and holds none of the images that the database knows'

/** Blobs that are looked for in a store without an owner: one that exists is enough. */
const SAMPLE_BLOBS = 10

/**
 * Returns whether the store belongs to this database. Two databases that use one store by mistake must never remove each
 * other's blobs, so the store names its owner. A store without an owner is claimed by a database that knows its content, or
 * if both are empty.
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
  if (!(await hasKnownContent(database, blobs))) return { kind: 'strange' }
  if (!mayClaim) return { kind: 'own' }
  const claimed = await blobs.owner(own)
  return claimed === own ? { kind: 'own' } : { kind: 'foreign', owner: claimed ?? '' }
}

async function hasKnownContent(database: Database, blobs: BlobStore): Promise<boolean> {
  const recorded = await database.all(someBlobs(SAMPLE_BLOBS))
  for (const { key } of recorded) {
    const found = await blobs.openWhole(key)
    found?.body.destroy()
    if (found !== undefined) return true
  }
  if (recorded.length > 0) return false
  for await (const _ of blobs.keys()) return false
  return true
}

/** Makes this database the owner of the store, even if it belonged to another one. */
export async function claimStore(database: Database, blobs: BlobStore): Promise<void> {
  const own = (await database.first(instance()))?.id
  await blobs.clearOwner()
  await blobs.owner(own)
}

const OWNERSHIP_RETRY_MS = 5_000

/** Caches ownership: permanently once the store is ours, for a few seconds otherwise. */
export class StoreOwnership {
  readonly #database: Database
  readonly #blobs: BlobStore
  #cached: Promise<Ownership> | undefined

  constructor(database: Database, blobs: BlobStore) {
    this.#database = database
    this.#blobs = blobs
  }

  async check(): Promise<Ownership> {
    const query = ownershipOf(this.#database, this.#blobs, true)
    this.#cached = query
    const forget = () => {
      if (this.#cached === query) this.#cached = undefined
    }
    query.then(({ kind }) => kind !== 'own' && setTimeout(forget, OWNERSHIP_RETRY_MS).unref(), forget)
    return query
  }

  async assertOwn(): Promise<void> {
    const ownership = await (this.#cached ?? this.check())
    if (ownership.kind === 'own') return
    // It must not be written to: its content and ours could be lost.
    throw new Error(ownership.kind === 'foreign' ? `${FOREIGN_STORE}, ${ownership.owner}` : STRANGE_STORE)
  }
}
