import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { VersionedCache } from '../storage/database/versioned-cache.ts'
import type { Holder } from './links/access/modes.ts'
import type { ImageHash } from './hash.ts'
import { secondsOf } from './lifetime.ts'
import { blobWithHolders, sharedHolder, type BlobRow } from './queries.ts'

const MAX_LOOKUPS = 100_000

const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** An image as public links see it. */
export interface KnownImage {
  readonly blob: BlobRow
  /** The applications that hold it. */
  readonly holders: readonly Holder[]
  /** When the last of them shows it no more: seconds since 1970; undefined where one holds it for good. */
  readonly expires: number | undefined
  /** Equal as long as links to it mean, and are allowed, the same. */
  readonly state: string
}

interface Known {
  readonly blob: BlobRow
  readonly holders: readonly { readonly holder: Holder; readonly expires: number | null }[]
  /** The same where all hold it for good, as at any moment. */
  readonly lasting: KnownImage | undefined
}

/**
 * What images there are, and who holds them, at this moment: any change may be a deletion, or an application's that closes
 * its images, so all is forgotten at each. Bytes need no such care: their keys never come back.
 */
export class KnownImages {
  readonly #database: Database
  readonly #clock: Clock
  readonly #images: VersionedCache<Known>
  readonly #shared: VersionedCache<true>

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
    this.#images = new VersionedCache(database, ['image', 'account'], MAX_LOOKUPS)
    this.#shared = new VersionedCache(database, 'image', MAX_LOOKUPS)
  }

  async find(hash: ImageHash): Promise<KnownImage | undefined> {
    const known = await this.#images.get(hash, async () => {
      const rows = await this.#database.all(blobWithHolders(hash))
      const [row] = rows
      if (row === undefined) return undefined
      const { mode: _, secret: __, expires: ___, ...blob } = row
      const holders = rows.map(({ mode, secret, expires }) => ({ holder: { mode, secret }, expires }))
      const lasts = holders.every(({ expires }) => expires === null)
      return { blob, holders, lasting: lasts ? knownImage(blob, holders) : undefined }
    })
    if (known === undefined || known.lasting !== undefined) return known?.lasting
    const now = secondsOf(this.#clock)
    const left = known.holders.filter(({ expires }) => expires === null || expires > now)
    return left.length === 0 ? undefined : knownImage(known.blob, left)
  }

  /** Another one after each change that may have to do with an image, or with who may see it. */
  get version(): number {
    return this.#images.version
  }

  /** The same where it is at hand, and lasts for good. */
  peek(hash: ImageHash): KnownImage | undefined {
    return this.#images.peek(hash)?.lasting
  }

  /** Whether some application holds both. */
  async areTogether(one: ImageHash, other: ImageHash): Promise<boolean> {
    const found = await this.#shared.get(`${one} ${other}`, async () =>
      (await this.#database.first(sharedHolder(one, other))) === undefined ? undefined : true,
    )
    return found === true
  }
}

function knownImage(blob: BlobRow, left: Known['holders']): KnownImage {
  const holders = left.map(({ holder }) => holder)
  const ends = left.map(({ expires }) => expires ?? Infinity)
  const last = Math.max(...ends)
  return {
    blob,
    holders,
    expires: last === Infinity ? undefined : last,
    state: JSON.stringify([blob.key, holders.map((holder) => JSON.stringify(holder)).toSorted(byCode)]),
  }
}
