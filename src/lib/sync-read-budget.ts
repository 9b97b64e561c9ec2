/** A read from the page cache takes less than this. The time beyond it blocks all other requests and is charged to the budget. */
const FREE_MS = 1
/** The share of time that blocking may take in the long run. */
const BUDGET_SHARE = 0.05
/** Debt up to this is tolerated: the process may also have been descheduled, which says nothing about the disk. */
const BURST_MS = 50
/** Limits the debt of one hanging read, as on a network folder, so that synchronous reads resume within ten minutes. */
const MAX_DEBT_MS = 30_000

/**
 * Decides whether files may be read synchronously. On a local disk that is fastest; on a slow disk or a network folder it
 * would block the event loop. Measures how long reads block and allows them a small share of the time.
 */
export class SyncReadBudget {
  readonly #now: () => number
  readonly #waits: () => number
  #debtMs = 0
  #since: number

  /**
   * @param now a monotonic clock, in milliseconds
   * @param waits voluntary context switches of the process so far; always 0 if the system does not count them
   */
  constructor(now: () => number = () => performance.now(), waits = voluntarySwitches) {
    this.#now = now
    this.#waits = waits
    this.#since = now()
  }

  /** Whether synchronous reads are allowed now. */
  get hasBudget(): boolean {
    if (this.#debtMs > 0) this.#repay()
    return this.#debtMs < BURST_MS
  }

  #repay(): void {
    const now = this.#now()
    this.#debtMs = Math.max(0, this.#debtMs - (now - this.#since) * BUDGET_SHARE)
    this.#since = now
  }

  /**
   * Runs the work synchronously and charges the time that it blocked. While there is debt, also checks whether the process
   * really waited or was only descheduled: on a busy machine, reads from the page cache would otherwise look like a slow disk.
   */
  run<T>(work: () => T): T {
    const waits = this.#debtMs > 0 ? this.#waits() : 0
    const start = this.#now()
    try {
      return work()
    } finally {
      const waited = this.#now() - start - FREE_MS
      if (waited > 0 && !(waits > 0 && this.#waits() === waits)) this.#add(waited)
    }
  }

  #add(ms: number): void {
    this.#repay()
    this.#debtMs = Math.min(MAX_DEBT_MS, this.#debtMs + ms)
  }
}

/** Of all threads: waits of other threads count too, which errs on the safe side. */
const voluntarySwitches = (): number => process.resourceUsage().voluntaryContextSwitches
