/**
 * Keeps callers from waiting, one after another, for something that does not answer. After `failures` in a row nobody is
 * let through for `pauseMs`; then one at a time is, until one succeeds.
 */
export class Breaker {
  readonly #failures: number
  readonly #pauseMs: number
  readonly #now: () => number
  #inRow = 0
  #closedUntil = -Infinity
  #trying = false

  constructor(failures: number, pauseMs: number, now: () => number = () => performance.now()) {
    this.#failures = failures
    this.#pauseMs = pauseMs
    this.#now = now
  }

  /**
   * The outcome of `work`; undefined when it was not let through or failed.
   * @param failed told of a failure
   */
  async run<T>(work: () => Promise<T>, failed: (error: unknown) => void): Promise<T | undefined> {
    const isTrial = this.#inRow >= this.#failures
    if (isTrial && (this.#trying || this.#now() < this.#closedUntil)) return undefined
    if (isTrial) this.#trying = true
    try {
      const result = await work()
      this.#inRow = 0
      return result
    } catch (error) {
      this.#inRow++
      this.#closedUntil = this.#now() + this.#pauseMs
      failed(error)
      return undefined
    } finally {
      if (isTrial) this.#trying = false
    }
  }
}
