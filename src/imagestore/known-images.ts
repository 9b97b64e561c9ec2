import { secondsOf, type Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { VersionedCache } from '../storage/database/versioned-cache.ts'
import type { ImageHash } from './image-hash.ts'
import type { BlobRow } from './image-fields.ts'
import type { Holder } from './links/delivery-mode.ts'
import { blobWithHolders, sharedHolder } from './queries.ts'

const MAX_CACHED_IMAGES = 100_000

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** An image as public links see it. */
export interface KnownImage {
  readonly blob: BlobRow
  /** The applications that hold it. */
  readonly holders: readonly Holder[]
  /** When the last holder's record expires, in seconds since 1970; undefined if one never does. */
  readonly expires: number | undefined
  /** Equal as long as links to it mean the same and are allowed to the same extent. */
  readonly state: string
}

interface Cached {
  readonly blob: BlobRow
  readonly holders: readonly { readonly holder: Holder; readonly expires: number | null }[]
  /** The result at any time, if no holder's record expires. */
  readonly permanent: KnownImage | undefined
}

/**
 * Caches which images exist and who holds them. Any change may be a deletion, or of delivery settings, so each one
 * invalidates all. Bytes need no invalidation: their keys are never reused.
 */
export class KnownImages {
  readonly #database: Database
  readonly #clock: Clock
  readonly #images: VersionedCache<Cached>
  readonly #shared: VersionedCache<true>

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#images = new VersionedCache(database, ['image', 'account'], MAX_CACHED_IMAGES)
    this.#shared = new VersionedCache(database, 'image', MAX_CACHED_IMAGES)
  }

  /**
   * @param client whose turn a read from the database uses; unknown images are not cached
   * @throws OverloadError if too many reads wait
   */
  async find(hash: ImageHash, client: string): Promise<KnownImage | undefined> {
    const cached = await this.#images.get(hash, async () => {
      const rows = await this.#database.readerOf(client).all(blobWithHolders(hash))
      const [row] = rows
      if (row === undefined) return undefined
      const { mode: _, secret: __, expires: ___, ...blob } = row
      const holders = rows.map(({ mode, secret, expires }) => ({ holder: { mode, secret }, expires }))
      const isPermanent = holders.every(({ expires }) => expires === null)
      return { blob, holders, permanent: isPermanent ? knownImage(blob, holders) : undefined }
    })
    if (cached === undefined || cached.permanent !== undefined) return cached?.permanent
    const now = secondsOf(this.#clock)
    const current = cached.holders.filter(({ expires }) => expires === null || expires > now)
    return current.length === 0 ? undefined : knownImage(cached.blob, current)
  }

  /** Changes with each change that may affect an image or its visibility. */
  get version(): number {
    return this.#images.version
  }

  /** Like `find`, but only for a cached image that does not expire. */
  peek(hash: ImageHash): KnownImage | undefined {
    return this.#images.peek(hash)?.permanent
  }

  /** Whether some application holds both images. */
  async areTogether(one: ImageHash, other: ImageHash, client: string): Promise<boolean> {
    const found = await this.#shared.get(`${one} ${other}`, async () => {
      const holder = await this.#database.readerOf(client).first(sharedHolder(one, other))
      return holder === undefined ? undefined : true
    })
    return found === true
  }
}

function knownImage(blob: BlobRow, current: Cached['holders']): KnownImage {
  const holders = current.map(({ holder }) => holder)
  const last = Math.max(...current.map(({ expires }) => expires ?? Infinity))
  return {
    blob,
    holders,
    expires: last === Infinity ? undefined : last,
    state: JSON.stringify([blob.key, holders.map((holder) => JSON.stringify(holder)).toSorted(byCodeUnit)]),
  }
}
