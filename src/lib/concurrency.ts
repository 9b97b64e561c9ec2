import { addAbortListener } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { InterruptibleSleep } from './clock.ts'

/**
 * Resolves to true if `work` settles within `ms`, else to false. Does not cancel the work. Rejects if it rejects in time.
 * @param ms with 0 or less, only work that has already settled counts
 */
export async function withTimeout(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms))
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Rejects with the signal's reason when it aborts, else settles as `work` does. Does not cancel the work. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  using _listener = addAbortListener(signal, () => aborted.reject(signal.reason))
  return await Promise.race([work, aborted.promise])
}

/** The share of one process in a limit on all processes of this instance: at least 1. */
export function perProcessShare(total: number, processes: number): number {
  return Math.max(1, Math.floor(total / processes))
}

/**
 * Calls `work` for each item, at most `limit` at a time, and reads the next item only when a call ends. Reads no further item
 * after an error, and rejects with the first one when all calls have ended.
 */
export async function forEachConcurrent<T>(
  items: AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  const errors: unknown[] = []
  async function takeItems(): Promise<void> {
    try {
      let next = await iterator.next()
      for (; next.done !== true && errors.length === 0; next = await iterator.next()) await work(next.value)
    } catch (error) {
      errors.push(error)
    }
  }
  await Promise.all(Array.from({ length: limit }, takeItems))
  if (errors.length > 0) throw errors[0]
}

/**
 * Calls `work` for each item and yields the results as they arrive, in batches: those of one turn of the event loop. At most
 * `limit` items are in progress or waiting for the consumer. Stops when the consumer stops; throws the first error.
 */
export async function* streamConcurrent<T, R>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<readonly R[]> {
  const remaining = items[Symbol.iterator]()
  let results: R[] = []
  let running = 0
  let failure: { readonly error: unknown } | undefined
  let wake = () => {}

  function start(item: T): void {
    running++
    work(item).then(
      (result) => {
        results.push(result)
        finish()
      },
      (error: unknown) => {
        failure ??= { error }
        finish()
      },
    )
  }

  function finish(): void {
    running--
    wake()
  }

  for (;;) {
    while (running + results.length < limit) {
      const next = remaining.next()
      if (next.done === true) break
      start(next.value)
    }
    if (failure !== undefined) throw failure.error
    if (results.length > 0) {
      const batch = results
      results = []
      yield batch
    } else if (running === 0) return
    else await new Promise<void>((resolve) => (wake = () => setImmediate(resolve)))
  }
}

/** Yields the items in arrays of `size`; the last one may be shorter. */
export async function* batchesOf<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const item of items) {
    if (batch.push(item) < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

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

/** Delay after a failure of `repeatUntilAborted`. */
const RETRY_MS = 2_000

/**
 * Repeats `work`, which contains its own wait, until `signal` aborts. Never rejects: a failure is reported and delays the next run.
 */
export async function repeatUntilAborted(
  work: () => Promise<void>,
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work()
    } catch (error) {
      if (!signal.aborted) failed(error)
      await new InterruptibleSleep().sleep(RETRY_MS, signal)
    }
  }
}

/**
 * Repeats a transaction that changes at most `size` rows, so that other writers get their turn in between. Ends when one changes
 * fewer, or `signal` aborts.
 * @returns the total number of rows
 */
export async function inBatches(
  size: number,
  signal: AbortSignal | undefined,
  batch: () => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    const changed = await batch()
    total += changed
    if (changed < size || signal?.aborted === true) return total
  }
}

/** The unit of the count. */
export type ProgressUnit = 'items' | 'bytes'

/** Reports progress of a long-running task. */
export interface Progress {
  /**
   * Starts a step, which ends the previous one.
   * @param total expected count; undefined if unknown
   * @param done count of an earlier run, which does not affect the speed
   */
  begin(name: string, total?: number, done?: number, unit?: ProgressUnit): void
  add(count: number): void
  /** Ends the last step. */
  end(): void
}
