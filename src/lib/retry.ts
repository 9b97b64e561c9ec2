import { setTimeout as pause } from 'node:timers/promises'

export interface RetryOptions {
  readonly attempts: number
  /** Longest pause after the first attempt, in milliseconds. It doubles with each further one. */
  readonly firstPauseMs: number
  /** By default all errors are retried. */
  readonly isRetryable?: (error: unknown) => boolean
}

/** Repeats work that is safe to repeat, with random pauses. Rejects with the error of the last attempt. */
export async function withRetries<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { attempts, firstPauseMs, isRetryable = () => true } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !isRetryable(error)) throw error
    }
    const longest = firstPauseMs * 2 ** (attempt - 1)
    await pause(longest * (0.5 + Math.random() / 2))
  }
}

/**
 * Stops callers from waiting, one after another, for something that does not answer. After `failures` in a row it rejects all
 * work for `pauseMs`; then it lets one trial at a time through until one succeeds.
 */
export class CircuitBreaker {
  readonly #failures: number
  readonly #pauseMs: number
  readonly #now: () => number
  #failuresInRow = 0
  #openUntil = -Infinity
  #isTrialRunning = false

  constructor(failures: number, pauseMs: number, now: () => number = () => performance.now()) {
    this.#failures = failures
    this.#pauseMs = pauseMs
    this.#now = now
  }

  /**
   * Resolves to the outcome of `work`, or to undefined if it failed or the circuit is open.
   * @param failed called with the error when `work` rejects
   */
  async run<T>(work: () => Promise<T>, failed: (error: unknown) => void): Promise<T | undefined> {
    const isTrial = this.#failuresInRow >= this.#failures
    if (isTrial && (this.#isTrialRunning || this.#now() < this.#openUntil)) return undefined
    if (isTrial) this.#isTrialRunning = true
    try {
      const result = await work()
      this.#failuresInRow = 0
      return result
    } catch (error) {
      this.#failuresInRow++
      this.#openUntil = this.#now() + this.#pauseMs
      failed(error)
      return undefined
    } finally {
      if (isTrial) this.#isTrialRunning = false
    }
  }
}
