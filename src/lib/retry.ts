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
