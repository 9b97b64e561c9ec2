/** What is in the page cache comes within this time; the rest of a read is a wait, during which nobody else is answered. */
const PROMPT_MS = 1
/** Of the time, so much may be spent on such waits, */
const SHARE = 0.05
/** and so much in one go: a process may also have been put aside for a moment, which says nothing of the disk. */
const BURST_MS = 50
/** After the worst of them, a network folder that hung, it is tried anew within ten minutes. */
const MAX_DEBT_MS = 30_000

/**
 * Reads from a local disk are mostly quickest on the event loop itself, and from a slow one, or a folder over the network,
 * never: they would keep everybody waiting. Which one it is shows in the time that reads take.
 */
export class Stalls {
  readonly #now: () => number
  #debtMs = 0
  #since: number

  /** @param now milliseconds, from any moment on */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#since = now()
  }

  /** Whether work on the event loop was prompt enough of late to be done there. */
  get areFew(): boolean {
    if (this.#debtMs === 0) return true
    const now = this.#now()
    this.#debtMs = Math.max(0, this.#debtMs - (now - this.#since) * SHARE)
    this.#since = now
    return this.#debtMs < BURST_MS
  }

  /** Does the work at once, and counts what it kept others waiting. */
  run<T>(work: () => T): T {
    const start = this.#now()
    try {
      return work()
    } finally {
      const waited = this.#now() - start - PROMPT_MS
      if (waited > 0) this.#add(waited)
    }
  }

  #add(ms: number): void {
    // What was paid off before is not counted against this.
    void this.areFew
    this.#since = this.#now()
    this.#debtMs = Math.min(MAX_DEBT_MS, this.#debtMs + ms)
  }
}
