import type { Client } from '../lib/client.ts'
import { secondsOf, type Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { VersionedCache } from '../storage/database/versioned-cache.ts'
import type { ImageHash } from './image-hash.ts'
import type { BlobRow } from './image-fields.ts'
import type { Holder } from './links/delivery-mode.ts'
import { blobWithHolders, type HolderRow } from './queries.ts'

const MAX_CACHED_IMAGES = 100_000

/** An image as public links see it. */
export interface KnownImage {
  readonly blob: BlobRow
  /** The applications that hold it, in a fixed order. */
  readonly holders: readonly (Holder & { readonly account_id: number })[]
  /** When the last holder's record expires, in seconds since 1970; undefined if one never does. */
  readonly expires: number | undefined
  /** The point that `g_auto` keeps: that of the first holder that set one. */
  readonly focus: { readonly x: number; readonly y: number } | undefined
  /** Equal as long as links to it mean the same and are allowed to the same extent. */
  readonly state: string
}

/**
 * Caches which images exist and who holds them. Any change may be a deletion, or of delivery settings, so each one
 * invalidates all. Bytes need no invalidation: their keys are never reused.
 */
export class KnownImages {
  readonly #database: Database
  readonly #clock: Clock
  /** Rows by image, one for each holder. */
  readonly #rows: VersionedCache<readonly (BlobRow & HolderRow)[]>

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#rows = new VersionedCache(database, ['image', 'account'], MAX_CACHED_IMAGES)
  }

  /**
   * @param client whose turn a read from the database uses; unknown images are not cached
   * @throws OverloadError if too many reads wait
   */
  async find(hash: ImageHash, client: Client): Promise<KnownImage | undefined> {
    const rows = await this.#rows.get(hash, async () => {
      const found = await this.#database.readerOf(client).all(blobWithHolders(hash))
      return found.length === 0 ? undefined : found
    })
    return rows && knownImage(rows, secondsOf(this.#clock))
  }

  /** Changes with each change that may affect an image or its visibility. */
  get version(): number {
    return this.#rows.version
  }

  /** Like `find`, but only for a cached image that does not expire. */
  peek(hash: ImageHash): KnownImage | undefined {
    const rows = this.#rows.peek(hash)
    return rows?.every(({ expires }) => expires === null) === true ? knownImage(rows, 0) : undefined
  }
}

/** @param now seconds since 1970 */
function knownImage(rows: readonly (BlobRow & HolderRow)[], now: number): KnownImage | undefined {
  const current = rows.filter(({ expires }) => expires === null || expires > now)
  const [first] = current
  if (first === undefined) return undefined
  const { account_id: _, mode: __, secret: ___, expires: ____, focus: _____, ...blob } = first
  const holders = current.map(({ account_id, mode, secret }) => ({ account_id, mode, secret }))
  const focus = current.find((row) => row.focus !== null)?.focus ?? undefined
  const [x = 0.5, y = 0.5] = focus?.split(',').map(Number) ?? []
  const last = Math.max(...current.map(({ expires }) => expires ?? Infinity))
  return {
    blob,
    holders,
    expires: last === Infinity ? undefined : last,
    focus: focus === undefined ? undefined : { x, y },
    state: JSON.stringify([blob.key, holders, focus]),
  }
}
