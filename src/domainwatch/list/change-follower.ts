import { withTimeout } from '../../lib/concurrency.ts'
import type { LogView } from '../../storage/database/changes/change-log.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'

/** Changes of the first read, on the connection for small reads; further ones use the connection for scans. */
const FIRST_PAGE = 300
/** Changes applied at a time, which limits memory. A batch has fewer: no list has half of one. */
const PAGE = 65_536
/** Beyond this share of the records, reloading all is faster, unless there are fewer changes than the minimum. */
const MAX_PART_BEHIND = 1 / 4
const MIN_MAX_BEHIND = 300_000
/** A write waits for the index only if lists were read this recently. */
const RECENT_MS = 5_000
/** How long one wait for changes to be applied takes. */
const CATCH_UP_MS = 1_000

/** `behind`: the changes could not be applied in time. `lost`: the log is another one, or reloading is faster. */
export type CatchUpResult = 'current' | 'behind' | 'lost'

interface ChangeFollowerOptions {
  readonly database: Pick<Database, 'scanner' | 'version'> & {
    readonly changes: Pick<Database['changes'], 'view' | 'unseen'>
  }
  readonly writes: ReadYourWrites
  /**
   * Applies changes: reads them, then removes and adds records and calls `applied` in one synchronous step.
   * @param text JSON of the changes, in their order
   * @param overlapping whether some of them may be applied already
   */
  readonly apply: (text: string, count: number, overlapping: boolean, applied: () => void) => Promise<unknown>
  /** The number of records in the index. */
  readonly records: () => number
  /** Ends a long pass. */
  readonly signal: AbortSignal
}

/**
 * Follows the changes of domains by what is visible: each pass applies what was committed since the last one, without waiting for
 * running transactions.
 */
export class ChangeFollower {
  readonly #options: ChangeFollowerOptions
  /** All changes that were visible in it are applied. */
  #seen: LogView | undefined
  /** Whether some that were not may be applied, too. */
  #isOverlapping = true
  /** The version of the topic up to which all changes are applied. */
  #appliedVersion: number | undefined
  #running: Promise<CatchUpResult> | undefined

  constructor(options: ChangeFollowerOptions) {
    this.#options = options
  }

  /** Follows changes from now on. Call it before reading the records. */
  async begin(): Promise<void> {
    this.#appliedVersion = undefined
    // Records that are read from now on may contain later changes.
    this.#isOverlapping = true
    this.#seen = await this.#options.database.changes.view()
  }

  /** Whether all committed changes are applied, except those of this process that are not acknowledged yet. */
  get isCurrent(): boolean {
    if (this.#appliedVersion === undefined) return false
    const version = this.#options.database.version('domain')
    // Not a number on an engine with several writers, where ids do not tell which changes are applied.
    const appliedId = Number(this.#seen?.visible)
    return this.#appliedVersion === version || this.#options.writes.cover(appliedId, version)
  }

  /**
   * Applies everything committed so far.
   * @throws what reading and applying throw; the next call repeats it
   */
  async catchUp(): Promise<CatchUpResult> {
    const result = this.#catchUp()
    return (await withTimeout(result, CATCH_UP_MS)) ? result : 'behind'
  }

  async #catchUp(): Promise<CatchUpResult> {
    // A running pass may have started to read before the last commit.
    const earlier = this.#running
    if (earlier !== undefined && (await earlier) === 'lost') return 'lost'
    this.#running ??= this.#follow().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #follow(): Promise<CatchUpResult> {
    while (!this.#options.signal.aborted) {
      const result = await this.#pass()
      if (result !== 'again') return result
    }
    return 'behind'
  }

  /** Applies what is not applied yet. `again`: in several pages, between which more may have been committed. */
  async #pass(): Promise<'current' | 'lost' | 'again'> {
    const { apply, database, records, signal } = this.#options
    const { changes, scanner } = database
    const seen = this.#seen
    if (seen === undefined) return 'lost'
    const version = database.version('domain')
    let page = await changes.unseen(seen, { after: 0, count: FIRST_PAGE })
    if (page === undefined || page.total > maxChangesBehind(records())) return 'lost'
    const { view, total, count } = page
    if (total === count) {
      const applied = () => {
        this.#seen = view
        this.#appliedVersion = version
        this.#isOverlapping = false
      }
      if (page.text === '') applied()
      else await apply(page.text, count, this.#isOverlapping, applied)
      return 'current'
    }
    let wasOverlapping = this.#isOverlapping
    let first: LogView | undefined
    for (let after = 0; !signal.aborted; after = page.last) {
      page = await changes.unseen(seen, { after, count: PAGE }, scanner)
      if (page === undefined) return 'lost'
      first ??= page.view
      const isOnly = after === 0 && page.total === page.count
      // Each page is of a later moment than the first, so the next pass reads some of the others again.
      if (!isOnly) this.#isOverlapping = wasOverlapping = true
      const isLast = page.total === page.count
      const seenNow = isLast ? first : seen
      await apply(page.text, page.count, wasOverlapping, () => {
        this.#seen = seenNow
        if (isOnly) this.#isOverlapping = false
      })
      if (isLast) break
    }
    return 'again'
  }
}

/** Returns the maximum number of changes to follow, by the number of records. */
export function maxChangesBehind(records: number): number {
  return Math.max(MIN_MAX_BEHIND, Math.floor(records * MAX_PART_BEHIND))
}

/** The ids of the changes of one transaction of this process: after the first, up to the last. */
export class WriteRange {
  first = Infinity
  last = -Infinity

  /** Must be called in the transaction, before and after its writes. */
  async begin(tx: Transaction): Promise<void> {
    this.first = (await tx.newestChange()) ?? Infinity
    this.last = -Infinity
  }

  async end(tx: Transaction): Promise<void> {
    this.last = (await tx.newestChange()) ?? -Infinity
  }
}

/**
 * Tracks writes of this process that are not acknowledged yet. Lists may omit these, so readers do not wait while a
 * large batch is put into the index; the writer waits instead. Without readers no writer waits, and the next reader
 * waits for what is missing.
 */
export class ReadYourWrites {
  readonly #ranges = new Set<WriteRange>()
  #readAt = -Infinity
  #deferred: Promise<unknown> | undefined

  /** Must be called whenever a list is read. */
  noteRead(): void {
    this.#readAt = performance.now()
  }

  /**
   * @param write the transaction, which marks its range
   * @param updateIndex resolves when lists show what was written, or are known to be behind; never rejects
   */
  async run<T>(write: (range: WriteRange) => Promise<T>, updateIndex: () => Promise<unknown>): Promise<T> {
    const range = new WriteRange()
    this.#ranges.add(range)
    try {
      const result = await write(range)
      // One at a time: many writes without waiting would leave the index further and further behind.
      await this.#deferred
      const updated = updateIndex()
      if (performance.now() - this.#readAt < RECENT_MS) await updated
      else this.#deferred = updated
      return result
    } finally {
      this.#ranges.delete(range)
    }
  }

  /** Whether all changes after one id up to another are of writes that are not acknowledged. */
  cover(first: number, last: number): boolean {
    let covered = first
    for (;;) {
      const next = [...this.#ranges].find((range) => range.first <= covered && range.last > covered)
      if (next === undefined) return this.#ranges.size > 0 && covered > first && covered >= last
      covered = next.last
    }
  }
}
