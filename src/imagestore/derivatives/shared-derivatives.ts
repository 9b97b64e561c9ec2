import { batchesOf } from '../../lib/concurrency.ts'
import { CircuitBreaker } from '../../lib/retry.ts'
import type { DerivativeStore } from '../../storage/blobs/blob-store.ts'
import type { Rendered } from '../decoder/index.ts'
import { decodeChecksummed, encodeChecksummed } from './checksummed-file.ts'

/** Consecutive failures after which the store is not used for a while. */
const MAX_FAILURES = 3
const PAUSE_MS = 10_000
/** Object stores do not report when an object was last read, so age limits growth; what is still requested is rendered again. */
const MAX_AGE_MS = 30 * 24 * 3_600_000
const HOUR_MS = 3_600_000
const BATCH = 200
/** The first characters of blob keys. */
const FIRST_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz234567'

/** Returns which of these blobs still exist. */
export type FindExisting = (blobKeys: readonly string[]) => Promise<ReadonlySet<string>>

/** Derivatives in a store that all nodes share. Reads and writes never fail, and rarely wait, whatever the store does. */
export class SharedDerivatives {
  readonly #store: DerivativeStore
  readonly #breaker = new CircuitBreaker(MAX_FAILURES, PAUSE_MS)
  readonly #onFault: (error: unknown) => void

  constructor(store: DerivativeStore, onFault: (error: unknown) => void) {
    this.#store = store
    this.#onFault = onFault
  }

  async read(blobKey: string, name: string): Promise<Rendered | undefined> {
    const object = await this.#breaker.run(() => this.#store.get(blobKey, name), this.#onFault)
    return object === undefined ? undefined : decodeChecksummed(object)
  }

  async write(blobKey: string, name: string, rendered: Rendered): Promise<void> {
    const object = encodeChecksummed(rendered)
    await this.#breaker.run(() => this.#store.put(blobKey, name, object), this.#onFault)
  }

  /** Removes all derivatives of an image. @throws errors of the store, so that the caller can retry */
  remove(blobKey: string): Promise<void> {
    return this.#store.removeAll(blobKey)
  }

  /**
   * Removes derivatives that are old or whose image was deleted. Each hour handles one first character of the keys, chosen
   * by the clock, so all are handled within 32 hours without any state.
   */
  async sweep(now: number, findExisting: FindExisting, signal: AbortSignal): Promise<number> {
    const start = FIRST_CHARACTERS.charAt(Math.floor(now / HOUR_MS) % FIRST_CHARACTERS.length)
    let removed = 0
    for await (const batch of batchesOf(this.#store.list(start), BATCH)) {
      if (signal.aborted) return removed
      const existing = await findExisting([...new Set(batch.map(({ blobKey }) => blobKey))])
      for (const { blobKey, name, writtenAt } of batch) {
        if (now - writtenAt <= MAX_AGE_MS && existing.has(blobKey)) continue
        await this.#store.remove(blobKey, name)
        removed++
      }
    }
    return removed
  }

  close(): void {
    this.#store.close()
  }
}
