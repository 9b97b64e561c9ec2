/** A sleep that can be interrupted. Waking is not remembered: it affects current sleepers only. */
export class InterruptibleSleep {
  readonly #sleepers = new Set<() => void>()

  wakeAll(): void {
    for (const wake of this.#sleepers) wake()
  }

  /** Resolves after `ms`, on `wakeAll()`, or when `signal` aborts. The timer does not keep the process alive. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        this.#sleepers.delete(end)
        resolve()
      }
      const timer = setTimeout(end, ms).unref()
      signal.addEventListener('abort', end, { once: true })
      this.#sleepers.add(end)
    })
  }
}

/** The wall clock. Tests replace it; nothing else calls `Date.now()`. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Wakes sleepers when a test sets the clock, so that they check the time again. */
  readonly moved?: InterruptibleSleep
}

export const systemClock: Clock = { now: () => Date.now() }

/** Seconds since 1970-01-01 UTC. */
export const secondsOf = (clock: Clock): number => Math.floor(clock.now() / 1000)
