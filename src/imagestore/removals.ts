import { withTimeout } from '../lib/with-timeout.ts'

/** Removals under way at once, and those that wait: some hundred bytes each. */
const AT_ONCE = 8
const MAX_WAITING = 10_000
/** When the service stops, those under way are waited for this long. */
const CLOSE_MS = 1_000

/**
 * Removals that nobody waits for: a store that hangs must not hold the answers to deletions. Nothing depends on them
 * either, what was not done is found again by a sweep: past the bound, after a fault, or when the service ends.
 */
export class Removals {
  readonly #remove: (key: string) => Promise<void>
  readonly #waiting: string[] = []
  readonly #running = new Set<Promise<void>>()

  constructor(remove: (key: string) => Promise<void>) {
    this.#remove = remove
  }

  get waiting(): number {
    return this.#waiting.length
  }

  add(key: string): void {
    if (this.#running.size >= AT_ONCE) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(key)
      return
    }
    const running = this.#remove(key)
      .catch(() => {})
      .finally(() => {
        this.#running.delete(running)
        const next = this.#waiting.shift()
        if (next !== undefined) this.add(next)
      })
    this.#running.add(running)
  }

  /** Begins no more of them. */
  async close(): Promise<void> {
    this.#waiting.length = 0
    await withTimeout(Promise.all(this.#running), CLOSE_MS)
  }
}
