import type { Reader } from '../sql.ts'
import type { ChangeLog, ChangeSelection, LogView } from './change-log.ts'

/** Changes of the first read, on the connection for small reads; further ones use the connection for scans. */
const FIRST_PAGE = 300
/** Changes applied at a time, which limits memory. A batch of a client has fewer, so it is applied as a whole. */
const PAGE = 65_536

/** `stopped`: the signal aborted. `lost`: the log is another one, or there are too many changes to follow; it has to begin again. */
export type CatchUpResult = 'current' | 'stopped' | 'lost'

export interface FollowerOptions {
  readonly log: Pick<ChangeLog, 'view' | 'unseen'>
  /** Reads all but small pages. */
  readonly scanner: Reader
  readonly selection: ChangeSelection
  /**
   * Applies changes, and calls `applied` in the same synchronous step.
   * @param text JSON of the changes, in their order
   * @param isOverlapping whether some of them may be applied already
   */
  readonly apply: (
    text: string,
    count: number,
    isOverlapping: boolean,
    applied: () => void,
  ) => Promise<unknown>
  /** Number of changes beyond which the follower gives up. */
  readonly maxBehind?: () => number
  /** Ends a long pass. */
  readonly signal?: AbortSignal
}

/**
 * Keeps something in memory up to date with the database, from the moment of `begin` on: each pass applies what was committed since
 * the last one, without waiting for running transactions.
 */
export class Follower {
  readonly #options: FollowerOptions
  #seen: LogView | undefined
  /** Whether some that were not may be applied, too. */
  #isOverlapping = true
  #running: Promise<CatchUpResult> | undefined

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  /** All changes that were visible in it are applied; undefined before `begin`, and when changes are lost. */
  get seen(): LogView | undefined {
    return this.#seen
  }

  /** Follows changes from now on. Call it before reading the rows that they change. */
  async begin(): Promise<void> {
    // Rows that are read from now on may contain later changes.
    this.#isOverlapping = true
    this.#seen = await this.#options.log.view()
  }

  /**
   * Applies everything committed before the call.
   * @throws what reading and applying throw; the next call repeats it
   */
  async catchUp(): Promise<CatchUpResult> {
    // A running pass may have started to read before the last commit.
    const earlier = this.#running
    if (earlier !== undefined && (await earlier) === 'lost') return 'lost'
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #run(): Promise<CatchUpResult> {
    while (this.#options.signal?.aborted !== true) {
      const result = await this.#pass()
      if (result === 'lost') this.#seen = undefined
      if (result !== 'again') return result
    }
    return 'stopped'
  }

  /** Applies what is not applied yet. `again`: in several pages, between which more may have been committed. */
  async #pass(): Promise<'current' | 'lost' | 'again'> {
    const { apply, log, maxBehind = () => Infinity, scanner, selection, signal } = this.#options
    const seen = this.#seen
    if (seen === undefined) return 'lost'
    let page = await log.unseen(seen, selection, { after: 0, count: FIRST_PAGE })
    if (page === undefined || page.total > maxBehind()) return 'lost'
    const { view, total, count } = page
    if (total === count) {
      const applied = () => {
        this.#seen = view
        this.#isOverlapping = false
      }
      if (page.text === '') applied()
      else await apply(page.text, count, this.#isOverlapping, applied)
      return 'current'
    }
    let wasOverlapping = this.#isOverlapping
    let first: LogView | undefined
    for (let after = 0; signal?.aborted !== true; after = page.last) {
      page = await log.unseen(seen, selection, { after, count: PAGE }, scanner)
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
