import type { Database } from '../database/database.ts'
import { VersionedCache } from '../database/versioned-cache.ts'
import type { Holder } from './access/modes.ts'
import type { ImageHash } from './hash.ts'
import { blobWithHolders, sharedHolder, type BlobRow } from './queries.ts'

const MAX_LOOKUPS = 100_000

const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** An image as public links see it. */
export interface KnownImage {
  readonly blob: BlobRow
  /** The applications that hold it. */
  readonly holders: readonly Holder[]
  /** Equal as long as links to it mean, and are allowed, the same. */
  readonly state: string
}

/**
 * What images there are, and who holds them, at this moment: any change may be a deletion, or an application's that closes
 * its images, so all is forgotten at each. Bytes need no such care: their keys never come back.
 */
export class KnownImages {
  readonly #database: Database
  readonly #images: VersionedCache<KnownImage>
  readonly #shared: VersionedCache<true>

  constructor(database: Database) {
    this.#database = database
    this.#images = new VersionedCache(database, ['image', 'account'], MAX_LOOKUPS)
    this.#shared = new VersionedCache(database, 'image', MAX_LOOKUPS)
  }

  find(hash: ImageHash): Promise<KnownImage | undefined> {
    return this.#images.get(hash, async () => {
      const rows = await this.#database.all(blobWithHolders(hash))
      const [row] = rows
      if (row === undefined) return undefined
      const { mode: _, secret: __, ...blob } = row
      const holders = rows.map(({ mode, secret }) => ({ mode, secret }))
      const state = JSON.stringify([
        blob.key,
        holders.map((holder) => JSON.stringify(holder)).toSorted(byCode),
      ])
      return { blob, holders, state }
    })
  }

  /** The same where it is at hand. */
  peek(hash: ImageHash): KnownImage | undefined {
    return this.#images.peek(hash)
  }

  /** Whether some application holds both. */
  async areTogether(one: ImageHash, other: ImageHash): Promise<boolean> {
    const found = await this.#shared.get(`${one} ${other}`, async () =>
      (await this.#database.first(sharedHolder(one, other))) === undefined ? undefined : true,
    )
    return found === true
  }
}
