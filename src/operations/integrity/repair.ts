import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { heldUntil } from '../../storage/database/transfer-marks.ts'
import { bytesKey, lostKey } from '../../imagestore/blobs.ts'
import { blobByHash, renameBlob, touchImages } from '../../imagestore/queries.ts'
import { retryOverload } from './verification.ts'

/** Counts of repairs. */
export interface Repaired {
  markedLost: number
  quarantined: number
  recovered: number
  removed: number
}

interface Recorded {
  readonly hash: string
  readonly key: string
}

/** Repairs findings one by one. If it is interrupted, the next run finds and repairs the rest. */
export class Repairer {
  readonly #database: Database
  readonly #blobs: BlobStore
  readonly #clock: Clock
  readonly done: Repaired = { markedLost: 0, quarantined: 0, recovered: 0, removed: 0 }

  constructor(database: Database, blobs: BlobStore, clock: Clock) {
    this.#database = database
    this.#blobs = blobs
    this.#clock = clock
  }

  async missing({ hash, key }: Recorded): Promise<void> {
    await this.#rename(hash, key, lostKey(key), 'markedLost')
  }

  async rotted({ hash, key }: Recorded): Promise<void> {
    // Quarantined first: without a record the sweep would remove the bytes, which may be all that is left of the image.
    await this.#blobs.quarantine(key)
    this.done.quarantined++
    await this.#rename(hash, key, lostKey(key), 'markedLost')
  }

  async found({ hash, key }: Recorded): Promise<void> {
    await this.#rename(hash, key, bytesKey(key), 'recovered')
  }

  /** @returns a fault if the database contradicts itself; then the bytes stay */
  async orphaned(key: string): Promise<string | undefined> {
    // No record was found by its key. Removal is final, so look it up by its hash too, in another index.
    const hash = key.slice(0, key.indexOf('.'))
    const recorded = await retryOverload(() => this.#database.first(blobByHash(hash)))
    if (recorded !== undefined && bytesKey(recorded.key) === key) {
      return `blob ${key}: found by its hash but not by its key`
    }
    // A running backup may still have to copy it; the next repair removes it.
    if ((await heldUntil(this.#database, this.#clock.now())) !== undefined) return undefined
    await this.#blobs.remove(key)
    this.done.removed++
    return undefined
  }

  async #rename(hash: string, from: string, to: string, counter: 'markedLost' | 'recovered'): Promise<void> {
    const renamed = await retryOverload(() =>
      this.#database.transaction(async (tx) => {
        const count = await tx.run(renameBlob(hash, from, to))
        // Makes running services drop what they cache of the image.
        if (count > 0) await tx.run(touchImages(hash))
        return count
      }),
    )
    this.done[counter] += renamed
  }
}
