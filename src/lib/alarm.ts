/** Cuts short the waiting of whoever waits for it. Who is not waiting when it rings does not hear it. */
export class Alarm {
  readonly #waiting = new Set<() => void>()

  ring(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Resolves when it rings, when `signal` aborts, or after `ms` milliseconds. It alone keeps no process running. */
  wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        this.#waiting.delete(end)
        resolve()
      }
      const timer = setTimeout(end, ms).unref()
      signal.addEventListener('abort', end, { once: true })
      this.#waiting.add(end)
    })
  }
}
