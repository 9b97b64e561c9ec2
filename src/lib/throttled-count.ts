/** A count that took no longer than this is repeated for each caller. */
const CHEAP_MS = 500
/** A slower one is cached for this many times its duration, so that counting takes at most a hundredth of the time. */
const CACHED_FOR_DURATIONS = 100

/**
 * Wraps an expensive count: a quick one runs at each call, a slow one is cached in proportion to its duration. Concurrent
 * calls share one run.
 * @param now a monotonic clock, in milliseconds
 */
export function throttledCount<T>(count: () => Promise<T>, now = () => performance.now()): () => Promise<T> {
  let cached: { readonly value: T; readonly until: number } | undefined
  let running: Promise<T> | undefined

  async function run(): Promise<T> {
    const start = now()
    try {
      const value = await count()
      const end = now()
      const durationMs = end - start
      cached = durationMs > CHEAP_MS ? { value, until: end + durationMs * CACHED_FOR_DURATIONS } : undefined
      return value
    } finally {
      running = undefined
    }
  }

  return async () => {
    if (cached !== undefined && now() < cached.until) return cached.value
    running ??= run()
    return running
  }
}
