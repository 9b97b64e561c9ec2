export interface ConcurrencyLimiter {
  /** Runs `work` as soon as fewer than the limit are running, first come first served. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** A limit on how much runs at the same time. Callers limit how many may wait. */
export function createLimiter(limit: number): ConcurrencyLimiter {
  let running = 0
  const waiting: (() => void)[] = []
  return {
    async run(work) {
      if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
      else running++
      try {
        return await work()
      } finally {
        // The slot passes to the next in the queue.
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    },
  }
}
