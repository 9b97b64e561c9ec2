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
export class SyncReadBudget {
  readonly #now: () => number
  readonly #waits: () => number
  #debtMs = 0
  #since: number

  /**
   * @param now milliseconds, from any moment on
   * @param waits how often the process has waited for something so far; 0 where nobody counts
   */
  constructor(now: () => number = () => performance.now(), waits = voluntarySwitches) {
    this.#now = now
    this.#waits = waits
    this.#since = now()
  }

  /** Whether work on the event loop was prompt enough of late to be done there. */
  get hasBudget(): boolean {
    if (this.#debtMs === 0) return true
    const now = this.#now()
    this.#debtMs = Math.max(0, this.#debtMs - (now - this.#since) * SHARE)
    this.#since = now
    return this.#debtMs < BURST_MS
  }

  /**
   * Does the work at once, and counts what it kept others waiting. Once something was counted, and so seldom enough not to
   * matter, it is asked whether the process waited at all or another one had its processor: where many share one, what is
   * in the page cache would else be taken for a slow disk.
   */
  run<T>(work: () => T): T {
    const waits = this.#debtMs > 0 ? this.#waits() : 0
    const start = this.#now()
    try {
      return work()
    } finally {
      const waited = this.#now() - start - PROMPT_MS
      if (waited > 0 && !(waits > 0 && this.#waits() === waits)) this.#add(waited)
    }
  }

  #add(ms: number): void {
    // What was paid off before is not counted against this.
    void this.hasBudget
    this.#since = this.#now()
    this.#debtMs = Math.min(MAX_DEBT_MS, this.#debtMs + ms)
  }
}

/** Of all threads: what another one waited for meanwhile counts too, which errs on the safe side. */
const voluntarySwitches = (): number => process.resourceUsage().voluntaryContextSwitches
