import { withTimeout } from '../../lib/concurrency.ts'
import { partsOf, type Cursor } from '../../storage/database/changes/change.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'

/** Changes of the first read, on the connection for small reads; further ones use the connection for scans. */
const FIRST_PAGE = 300
const PAGE = 20_000
/** Changes applied at a time, which limits memory. A batch has fewer: lists do not wait for the rest of one. */
const PORTION = 100_000
/** Beyond this share of the records, reloading all is faster, unless there are fewer changes than the minimum. */
const MAX_PART_BEHIND = 1 / 4
const MIN_MAX_BEHIND = 300_000
/** A write waits for the index only if lists were read this recently. */
const RECENT_MS = 5_000
/** How long a list waits for changes to be applied before the database answers it. */
const CATCH_UP_MS = 1_000

/** `behind`: not everything committed is readable in time. `lost`: the log has no changes after our cursor. */
export type CatchUpResult = 'current' | 'behind' | 'lost'

interface ChangeFollowerOptions {
  readonly database: Pick<Database, 'scanner' | 'version'> & {
    readonly changes: Pick<Database['changes'], 'head' | 'domainsAsText' | 'hasMoreThan'>
  }
  readonly writes: ReadYourWrites
  /**
   * Applies changes synchronously and calls `applied`.
   * @param texts JSON of the changes, in their order
   * @param overlapping whether the first of them may be applied already
   */
  readonly apply: (texts: readonly string[], count: number, overlapping: boolean) => Promise<unknown>
  /** The number of records in the index. */
  readonly records: () => number
  /** Ends a long pass. */
  readonly signal: AbortSignal
  readonly report: (error: unknown) => void
}

/** Follows the change log of domains, up to points at which no committed change is missing. */
export class ChangeFollower {
  readonly #options: ChangeFollowerOptions
  /** The cursor up to which changes were read. */
  #cursor: Cursor | undefined
  /** The version of the topic up to which all changes are applied. */
  #appliedVersion: number | undefined
  #appliedCursor: Cursor | undefined
  #appliedId = 0
  /** The version being applied; undefined if more is committed than is readable. */
  #nextVersion: number | undefined
  /** Changes that were read but not applied yet. */
  #texts: string[] = []
  #count = 0
  #overlapping = false
  #running: Promise<CatchUpResult> | undefined

  constructor(options: ChangeFollowerOptions) {
    this.#options = options
  }

  /** Follows changes from now on. Call it before reading the records. */
  async begin(): Promise<void> {
    this.#start(await this.#options.database.changes.head(), true)
  }

  /** Follows changes from the cursor up to which the index is complete. */
  resume(cursor: Cursor): void {
    this.#start(cursor, false)
  }

  #start(cursor: Cursor, overlapping: boolean): void {
    this.#appliedVersion = undefined
    this.#texts = []
    this.#count = 0
    this.#overlapping = overlapping
    this.#cursor = cursor
  }

  /** The index contains exactly the changes up to this cursor. */
  get appliedCursor(): Cursor | undefined {
    return this.#appliedCursor
  }

  get appliedId(): number {
    return this.#appliedId
  }

  /** Whether all committed changes are applied, except those of this process that are not acknowledged yet. */
  get isCurrent(): boolean {
    if (this.#appliedVersion === undefined) return false
    const version = this.#options.database.version('domain')
    return this.#appliedVersion === version || this.#options.writes.cover(this.#appliedId, version)
  }

  /** Must be called synchronously with applying the changes. */
  applied(): void {
    this.#appliedVersion = this.#nextVersion
    this.#appliedCursor = this.#cursor
    this.#appliedId = partsOf(this.#cursor ?? '')?.id ?? 0
    this.#texts = []
    this.#count = 0
    // Records read during writes may contain later changes, too.
    if (this.#nextVersion !== undefined) this.#overlapping = false
  }

  /** Applies everything committed so far. */
  async catchUp(): Promise<CatchUpResult> {
    const result = this.#catchUp()
    return (await withTimeout(result, CATCH_UP_MS)) ? result : 'behind'
  }

  async #catchUp(): Promise<CatchUpResult> {
    // A running pass may have started to read before the last commit.
    const earlier = this.#running
    if (earlier !== undefined) {
      const result = await earlier
      if (result === 'lost' || this.isCurrent) return result === 'lost' ? result : 'current'
    }
    this.#running ??= this.#follow().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #follow(): Promise<CatchUpResult> {
    const { apply, database, report, signal } = this.#options
    const version = database.version('domain')
    try {
      while (!signal.aborted) {
        const result = await this.#readPortion()
        if (result === 'lost') return result
        this.#nextVersion = result === 'current' ? version : undefined
        // The texts are kept until they are applied: a failed attempt is repeated by the next call.
        if (this.#texts.length > 0) await apply(this.#texts, this.#count, this.#overlapping)
        else if (result === 'current') this.applied()
        if (result !== 'full') return result
      }
    } catch (error) {
      report(error)
    }
    return 'behind'
  }

  /** Reads changes up to a point at which no committed change is missing, or until there are enough to apply. */
  async #readPortion(): Promise<CatchUpResult | 'full'> {
    const { changes, scanner } = this.#options.database
    for (let limit = FIRST_PAGE; this.#count < PORTION; limit = PAGE) {
      if (this.#cursor === undefined) return 'lost'
      const reader = limit === FIRST_PAGE ? undefined : scanner
      const page = await changes.domainsAsText(this.#cursor, limit, reader)
      if (page.kind === 'gap') return 'lost'
      this.#cursor = page.cursor
      this.#count += page.count
      if (page.text !== '') this.#texts.push(page.text)
      if (page.left === 0) return 'current'
      // An open transaction has earlier changes than some committed ones.
      if (page.count < limit) return 'behind'
      const max = maxChangesBehind(this.#options.records())
      if (page.left > max && (await changes.hasMoreThan(max, page.cursor, scanner))) return 'lost'
    }
    return 'full'
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
