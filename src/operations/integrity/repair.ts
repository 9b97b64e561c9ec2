import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { heldUntil } from '../../storage/database/transfer-marks.ts'
import { bytesKey, lostKey } from '../../imagestore/lost.ts'
import { blobByHash, renameBlob, touchImages } from '../../imagestore/queries.ts'
import { patiently } from './pages.ts'

/** What was done about what was found. */
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

/** Repairs one thing at a time. Cut off anywhere, it leaves what the next run finds and repairs again. */
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
    // Aside first: without a record they would be swept away, and they may be all that is left of the image.
    await this.#blobs.quarantine(key)
    this.done.quarantined++
    await this.#rename(hash, key, lostKey(key), 'markedLost')
  }

  async found({ hash, key }: Recorded): Promise<void> {
    await this.#rename(hash, key, bytesKey(key), 'recovered')
  }

  /** @returns what is wrong with the database, where that says two things: then the bytes stay */
  async orphaned(key: string): Promise<string | undefined> {
    // No record was found by its key. Bytes go for good, so it is looked for by its hash too: another index.
    const hash = key.slice(0, key.indexOf('.'))
    const recorded = await patiently(() => this.#database.first(blobByHash(hash)))
    if (recorded !== undefined && bytesKey(recorded.key) === key) {
      return `blob ${key}: it is found by its hash and not by its key`
    }
    // A backup under way may still have to copy it; then it stays for the next repair.
    if ((await heldUntil(this.#database, this.#clock.now())) !== undefined) return undefined
    await this.#blobs.remove(key)
    this.done.removed++
    return undefined
  }

  async #rename(hash: string, from: string, to: string, as: 'markedLost' | 'recovered'): Promise<void> {
    const renamed = await patiently(() =>
      this.#database.transaction(async (tx) => {
        const count = await tx.run(renameBlob(hash, from, to))
        // Services that keep what they know of an image forget it when its record changes.
        if (count > 0) await tx.run(touchImages(hash))
        return count
      }),
    )
    this.done[as] += renamed
  }
}
