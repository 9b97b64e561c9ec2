import type { DerivativeStore } from '../../storage/blobs/blob-store.ts'
import { CircuitBreaker } from '../../lib/circuit-breaker.ts'
import { seal, unseal, type Rendered } from './sealed.ts'

/** So many failures in a row, and the store is let alone for so long. */
const FAILURES = 3
const PAUSE_MS = 10_000
/** Made anew when somebody still asks for it: object stores do not tell when something was last read. */
const LIFETIME_MS = 30 * 24 * 3_600_000
const HOUR_MS = 3_600_000
/** What keys of blobs begin with. */
const FIRST_LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'

/** Which of these blobs still are. */
export type FindHeld = (blobKeys: readonly string[]) => Promise<ReadonlySet<string>>

/** Derivatives in a store that all nodes reach. Whatever ails it, reading and writing never fail and seldom wait. */
export class SharedDerivatives {
  readonly #store: DerivativeStore
  readonly #breaker = new CircuitBreaker(FAILURES, PAUSE_MS)
  readonly #failed: (error: unknown) => void

  constructor(store: DerivativeStore, failed: (error: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  async read(blobKey: string, name: string): Promise<Rendered | undefined> {
    const sealed = await this.#breaker.run(() => this.#store.get(blobKey, name), this.#failed)
    return sealed === undefined ? undefined : unseal(sealed)
  }

  async write(blobKey: string, name: string, rendered: Rendered): Promise<void> {
    await this.#breaker.run(() => this.#store.put(blobKey, name, seal(rendered)), this.#failed)
  }

  /** @throws when the store does not do it: nobody but the caller will come back to it soon */
  remove(blobKey: string): Promise<void> {
    return this.#store.removeAll(blobKey)
  }

  /**
   * Removes what is old or was made of an image that is gone: of one first letter of the keys each hour, chosen by the
   * clock, so that no state is kept and all letters have had their turn after 32 hours.
   */
  async sweep(now: number, findHeld: FindHeld, signal: AbortSignal): Promise<number> {
    const letter = FIRST_LETTERS.charAt(Math.floor(now / HOUR_MS) % FIRST_LETTERS.length)
    let removed = 0
    let batch: { blobKey: string; name: string; writtenAt: number }[] = []
    const clear = async () => {
      const held = await findHeld([...new Set(batch.map(({ blobKey }) => blobKey))])
      for (const { blobKey, name, writtenAt } of batch) {
        if (now - writtenAt <= LIFETIME_MS && held.has(blobKey)) continue
        await this.#store.remove(blobKey, name)
        removed++
      }
      batch = []
    }
    for await (const stored of this.#store.list(letter)) {
      if (signal.aborted) return removed
      if (batch.push(stored) >= 200) await clear()
    }
    await clear()
    return removed
  }

  close(): void {
    this.#store.close()
  }
}
