import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { batchesOf, withRetries } from '../lib/concurrency.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import { reasonOf } from '../storage/blobs/open.ts'
import type { Database } from '../storage/database/database.ts'
import { hashOfDigest, type BlobRow } from './image-fields.ts'
import {
  blobByHash,
  blobsBetween,
  heldKeys,
  instance,
  removalsAmong,
  renameBlob,
  someBlobs,
  touchImages,
} from './queries.ts'

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

/** Remembers that the store belongs to this database. */
export class StoreOwnership {
  readonly #database: Database
  readonly #blobs: BlobStore
  #isOwn = false

  constructor(database: Database, blobs: BlobStore) {
    this.#database = database
    this.#blobs = blobs
  }

  async check(): Promise<Ownership> {
    const ownership = await ownershipOf(this.#database, this.#blobs, true)
    this.#isOwn = ownership.kind === 'own'
    return ownership
  }

  async assertOwn(): Promise<void> {
    if (this.#isOwn) return
    const ownership = await this.check()
    // It must not be written to: its content and ours could be lost.
    if (ownership.kind === 'foreign') throw new Error(`${FOREIGN_STORE}, ${ownership.owner}`)
    if (ownership.kind === 'strange') throw new Error(STRANGE_STORE)
  }
}

const READ_RETRIES = { attempts: 3, firstPauseMs: 500 }

/** `unreadable`: why the store does not answer, or breaks off, which says nothing about the bytes. */
export type BytesState = 'valid' | 'missing' | 'damaged' | { readonly unreadable: string }

/**
 * Reads a whole blob and compares it with its record.
 * @param onBytes called with the number of bytes of each chunk
 */
export async function verifyBlob(
  store: BlobStore,
  key: string,
  { hash, size }: Pick<BlobRow, 'hash' | 'size'>,
  onBytes: (bytes: number) => void = () => {},
): Promise<'valid' | 'missing' | 'damaged'> {
  const found = await store.openWhole(key)
  if (found === undefined) return 'missing'
  if (found.size !== size) {
    found.body.destroy()
    return 'damaged'
  }
  const digest = createHash('sha256')
  for await (const chunk of found.body) {
    digest.update(chunk)
    onBytes(chunk.byteLength)
  }
  return hashOfDigest(digest.digest()) === hash ? 'valid' : 'damaged'
}

/**
 * Does the same for a store that may fail. Wrong bytes are read a second time, because they may have changed in transit.
 * @param onBytes called with the number of bytes of each chunk
 */
export async function verifyBlobTwice(
  store: BlobStore,
  key: string,
  expected: Pick<BlobRow, 'hash' | 'size'>,
  onBytes?: (bytes: number) => void,
): Promise<BytesState> {
  const read = () => withRetries(() => verifyBlob(store, key, expected, onBytes), READ_RETRIES)
  try {
    const state = await read()
    return state === 'damaged' ? await read() : state
  } catch (error) {
    return { unreadable: error instanceof Error ? reasonOf(error) : String(error) }
  }
}

/** Changes the key of a blob, unless it has changed in between, and makes running services drop what they cache of the image. */
export const rename = (database: Database, hash: string, from: string, to: string): Promise<number> =>
  database.transaction(async (tx) => {
    const count = await tx.run(renameBlob(hash, from, to))
    if (count > 0) await tx.run(touchImages(hash))
    return count
  })

/**
 * Marks an image whose bytes are damaged as lost. The bytes are quarantined first: without a record the sweep would remove them,
 * and they may be all that is left of the image.
 * @returns 0 if the record has changed in between
 */
export async function markDamaged(
  database: Database,
  store: BlobStore,
  { hash, key }: Pick<BlobRow, 'hash' | 'key'>,
): Promise<number> {
  await store.quarantine(key)
  return rename(database, hash, key, lostKey(key))
}

const HOUR_MS = 3_600_000
/**
 * Each hour has a part of all hashes, so that all are checked within a month and nothing has to be remembered. A prime number: a
 * service that runs a few hours a day reaches all parts too.
 */
const PARTS = 719
const PAGE_BLOBS = 500
/** Pause after each original, as a multiple of the time that it took: reads take a tenth of the time at most. */
const REST_FACTOR = 9
/** Characters of hashes in the order of their codes. */
const CHARACTERS = '234567abcdefghijklmnopqrstuvwxyz'
const PREFIX_LENGTH = 4

interface OriginalChecksContext {
  readonly database: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly log: Pick<Logger, 'error'>
}

/** The start of all hashes from this share of them on. */
function prefixAt(share: number): string {
  let prefix = ''
  for (let rest = share; prefix.length < PREFIX_LENGTH; rest %= 1)
    prefix += CHARACTERS.charAt(Math.floor((rest *= CHARACTERS.length))) || '~'
  return prefix
}

/**
 * Reads the originals and compares them with their hashes, because links do not. Damaged ones are marked as lost; missing ones are
 * only reported, because the whole store may be unavailable.
 */
export class OriginalChecks {
  readonly #context: OriginalChecksContext
  checked = 0
  damaged = 0

  constructor(context: OriginalChecksContext) {
    this.#context = context
  }

  /** Checks the part of the present hour. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, database } = this.#context
    const part = Math.floor(clock.now() / HOUR_MS) % PARTS
    const end = prefixAt((part + 1) / PARTS)
    for (let after = prefixAt(part / PARTS); !signal.aborted;) {
      const page = await database.all(blobsBetween(after, end, PAGE_BLOBS))
      for (const blob of page) {
        if (signal.aborted || isLost(blob.key)) continue
        const startedAt = performance.now()
        await this.#check(blob)
        const restMs = REST_FACTOR * (performance.now() - startedAt)
        await pause(restMs, undefined, { signal, ref: false }).catch(() => undefined)
      }
      const last = page.at(-1)
      if (last === undefined) return
      after = last.hash
    }
  }

  async #check(blob: Pick<BlobRow, 'hash' | 'key' | 'size'>): Promise<void> {
    const { blobs, database, log } = this.#context
    const state = await verifyBlobTwice(blobs, blob.key, blob)
    this.checked++
    if (state === 'valid') return
    // It may have been deleted in the meantime.
    if ((await database.first(blobByHash(blob.hash)))?.key !== blob.key) return
    if (state === 'damaged') {
      if ((await markDamaged(database, blobs, blob)) === 0) return
      this.damaged++
      log.error({ key: blob.key }, 'an original is damaged, and was marked as lost')
    } else log.error({ key: blob.key, state }, 'an original could not be checked')
  }
}
