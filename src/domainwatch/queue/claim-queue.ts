import type { Clock } from '../../lib/clock.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import { HttpError } from '../../lib/errors.ts'
import { clientOf } from '../../storage/database/connection-slots.ts'
import type { Database } from '../../storage/database/database.ts'
import type { NameIndex } from '../list/name-index.ts'
import type { NameSplits } from '../words/split-names.ts'
import type { SplitName } from '../words/dictionary.ts'
import { claimBatch, type Claimed, type ClaimRequest } from './claim-batch.ts'
import { MatchCounts } from './match-counts.ts'
import * as queries from './queries.ts'
import type { QueueView } from './queries.ts'

/** Calls in the current and the next batch, in total and per account. */
const SLOTS = 128
const SLOTS_PER_ACCOUNT = 8
/** Queued calls, in total and per account, and how long they wait. */
const MAX_WAITING = 1_000
const MAX_WAITING_PER_ACCOUNT = 100
const WAIT_MS = 15_000
/** Accounts in an answer: more than any group has members. */
const MAX_HOLDERS = 1_000

interface Waiting extends ClaimRequest {
  readonly view: QueueView
  readonly answer: PromiseWithResolvers<Claimed>
}

export interface ClaimQueueOptions {
  readonly database: Database
  readonly clock: Clock
  readonly nameIndex: Pick<NameIndex, 'latest' | 'advance'>
  /** Returns the words of a name. */
  readonly split: SplitName
  /** Decides whether the database can filter by words. */
  readonly splits: NameSplits
}

/**
 * The queue of records to decide on. Calls that arrive during a transaction share the next one, because a
 * transaction costs the same for one call or fifty.
 */
export class ClaimQueue {
  readonly #options: ClaimQueueOptions
  readonly #counts = new MatchCounts()
  readonly #slots = new FairSlots({
    slots: SLOTS,
    slotsPerClient: SLOTS_PER_ACCOUNT,
    maxWaiting: MAX_WAITING,
    maxWaitingPerClient: MAX_WAITING_PER_ACCOUNT,
    timeoutMs: WAIT_MS,
  })
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(options: ClaimQueueOptions) {
    this.#options = options
  }

  /**
   * Claims the next records of a view, after those that the account holds.
   * @throws HttpError 409 if the account holds as many as it may, none of which matches
   * @throws OverloadError if too many calls wait, or the view needs words that names are not split into yet
   */
  async claim(view: QueueView, request: ClaimRequest): Promise<Claimed> {
    await this.#options.splits.assertDone(view.filters)
    return this.#slots.run(clientOf(request.accountId), () => {
      const answer = Promise.withResolvers<Claimed>()
      this.#waiting.push({ ...request, view, answer })
      if (!this.#isRunning) void this.#run()
      return answer.promise
    })
  }

  /**
   * Releases records that the account holds: all, or those with these names.
   * @returns their number
   */
  release(accountId: number, names?: readonly string[]): Promise<number> {
    const { database, clock } = this.#options
    return database.transaction(
      (tx) => tx.run(queries.endClaims(database.dialect, accountId, clock.now(), names)),
      accountId,
    )
  }

  /** The accounts that hold records now. */
  holders(): Promise<readonly queries.Holder[]> {
    const { database, clock } = this.#options
    return database.all(queries.holders(clock.now(), MAX_HOLDERS))
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#answer(batch)
      } catch (error) {
        for (const { answer } of batch) answer.reject(error)
      }
    }
    this.#isRunning = false
  }

  async #answer(batch: readonly Waiting[]): Promise<void> {
    const { database, clock, nameIndex } = this.#options
    const groups = Map.groupBy(batch, ({ view }) => JSON.stringify(view))
    for (const [first] of groups.values()) {
      const latest = nameIndex.latest()
      if (first !== undefined && latest !== undefined) await this.#counts.refresh(first.view.filters, latest)
    }
    const answers = await database.transaction(async (tx) => {
      const lock = queries.claimsLock(database.dialect)
      if (lock !== undefined) await tx.all(lock)
      const now = clock.now()
      const answered: (readonly [Waiting, Claimed | HttpError])[] = []
      for (const group of groups.values()) {
        const [first] = group
        if (first === undefined) continue
        const claimed = await claimBatch(
          tx,
          { ...this.#options, counts: this.#counts },
          first.view,
          group,
          now,
        )
        for (const [i, waiting] of group.entries()) {
          const answer = claimed[i]
          if (answer !== undefined) answered.push([waiting, answer])
        }
      }
      return answered
    })
    for (const [{ answer }, claimed] of answers) {
      if (claimed instanceof HttpError) answer.reject(claimed)
      else answer.resolve(claimed)
    }
    // Not awaited: the next transaction finds changes missing from the index in the change log.
    void nameIndex.advance()
  }
}
