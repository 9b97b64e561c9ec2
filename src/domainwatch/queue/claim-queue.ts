import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { Gate } from '../../lib/gate.ts'
import { HttpError } from '../../lib/errors.ts'
import { newestChange } from '../../storage/database/changes/change-log.ts'
import { accountClient } from '../../lib/client.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import type { NameIndex } from '../list/name-index.ts'
import type { NameSplits } from '../words/split-names.ts'
import type { SplitName } from '../words/dictionary.ts'
import type { DatabaseLists } from '../list/database-lists.ts'
import {
  claimBatch,
  listingOf,
  ReadTooLittle,
  type Claimed,
  type ClaimRequest,
  type FirstMatches,
} from './claim-batch.ts'
import { BEFORE_EXPIRY, countMatches, MatchCounts } from './match-counts.ts'
import * as queries from './queries.ts'
import type { QueueView } from './queries.ts'

/** Calls in the current and the next batch, and queued ones. */
const CALLS = { running: 128, perClient: 8, waiting: 1_000, waitMs: 15_000 }
/**
 * How often a batch waits for the index, up to a second each, or reads again, before the database counts and searches. That
 * takes seconds among a million records, in a transaction that holds up other writers.
 */
const MAX_RETRIES = 5
/** The same on an engine with one writer: a retry may have to wait for a large batch, and the index lacks that one again. */
const MAX_RETRIES_ONE_WRITER = 1
/** Pause before the first retry, doubled with each: PostgreSQL shows changes of others some milliseconds late. */
const RETRY_MS = 20
/** Records read for each batch, besides those it needs: some may be claimed or changed meanwhile. Four times as many with each retry. */
const SPARE = 100
/** Accounts in an answer: more than any group has members. */
const MAX_HOLDERS = 1_000

interface Waiting extends ClaimRequest {
  readonly view: QueueView
  readonly answer: PromiseWithResolvers<Claimed>
}

type Answered = readonly [Waiting, Claimed | HttpError]

export interface ClaimQueueOptions {
  readonly database: Database
  readonly clock: Clock
  readonly nameIndex: Pick<NameIndex, 'latest' | 'advance' | 'catchUp'>
  /** Searches where the index is not ready. */
  readonly lists: Pick<DatabaseLists, 'page'>
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
  readonly #gate = new Gate(CALLS)
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(options: ClaimQueueOptions) {
    this.#options = options
  }

  /**
   * Claims the next records of a view, after those that the account holds.
   * @param signal ends the wait
   * @throws HttpError 409 if the account holds as many as it may, none of which matches
   * @throws OverloadError if too many calls wait, or the view needs words that names are not split into yet
   */
  async claim(view: QueueView, request: ClaimRequest, signal: AbortSignal): Promise<Claimed> {
    await this.#options.splits.assertDone(view.filters)
    const claim = () => {
      const answer = Promise.withResolvers<Claimed>()
      this.#waiting.push({ ...request, view, answer })
      if (!this.#isRunning) void this.#run()
      return answer.promise
    }
    return this.#gate.run(accountClient(request.accountId), claim, signal)
  }

  /** Releases records that the account holds, all or those with these names. Returns their number. */
  release(accountId: number, names?: readonly string[]): Promise<number> {
    const { database, clock } = this.#options
    return database.transaction(
      (tx) => tx.run(queries.endClaims(database.dialect, accountId, clock.now(), names)),
      accountId,
    )
  }

  /** The accounts that hold records now. @param accountId the account that asks */
  holders(accountId: number): Promise<readonly queries.Holder[]> {
    const { database, clock } = this.#options
    return database.readerOf(accountClient(accountId)).all(queries.holders(clock.now(), MAX_HOLDERS))
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
    const { nameIndex } = this.#options
    const groups = [...Map.groupBy(batch, ({ view }) => JSON.stringify(view)).values()]
    for (const [{ answer }, claimed] of await this.#claimAll(groups)) {
      if (claimed instanceof HttpError) answer.reject(claimed)
      else answer.resolve(claimed)
    }
    // Not awaited: the next transaction finds changes missing from the index in the change log.
    void nameIndex.advance()
  }

  /** @param groups calls with the same view each */
  async #claimAll(groups: readonly (readonly Waiting[])[]): Promise<Answered[]> {
    const { database, nameIndex } = this.#options
    const hasOneWriter = queries.claimsLock(database.dialect) === undefined
    const maxRetries = hasOneWriter ? MAX_RETRIES_ONE_WRITER : MAX_RETRIES
    for (let retries = 0; ; retries++) {
      const read = new Map<QueueView, FirstMatches>()
      const wanted = groups.flat().reduce((sum, { limit }) => sum + limit, 0)
      for (const [first] of groups) {
        if (first === undefined) continue
        const matches = await this.#read(first, wanted + SPARE * 4 ** retries)
        if (matches !== undefined) read.set(first.view, matches)
      }
      try {
        return await database.transaction(async (tx) => {
          // In the transaction of the only writer, so that it cannot fall behind again.
          if (hasOneWriter && retries === maxRetries) await this.#catchUp(groups)
          return this.#claimIn(tx, groups, read, retries < maxRetries)
        })
      } catch (error) {
        if (!(error instanceof ReadTooLittle)) throw error
        await nameIndex.catchUp()
        await pause(RETRY_MS * 2 ** retries)
      }
    }
  }

  async #catchUp(groups: readonly (readonly Waiting[])[]): Promise<void> {
    await this.#options.nameIndex.catchUp()
    for (const [first] of groups) if (first !== undefined) await this.#countInIndex(first)
  }

  /** Returns whether the index is ready. */
  async #countInIndex({ view: { filters }, accountId: account }: Waiting): Promise<boolean> {
    const latest = this.#options.nameIndex.latest()
    if (latest === undefined) return false
    const { segments, changeId } = latest
    const count = async () => ({ matches: await countMatches(segments, filters, BEFORE_EXPIRY), changeId })
    await this.#counts.refresh({ filters, account, changeId, count })
    return true
  }

  /**
   * Counts and searches before the transaction, which others wait for. An engine with several writers does it in the transaction
   * if the index is not ready: it cannot tell which changes a read takes into account, and only other claims wait.
   */
  async #read(call: Waiting, spare: number): Promise<FirstMatches | undefined> {
    const { database, clock, lists } = this.#options
    const { dialect } = database
    const { view, accountId: account } = call
    const { filters } = view
    if (await this.#countInIndex(call)) return undefined
    if (queries.claimsLock(dialect) !== undefined) return undefined
    const changeId = (await database.first(newestChange()))?.id ?? 0
    const count = async () => {
      const counted = await database.scanner.first(queries.matchesNow(dialect, filters))
      if (counted === undefined) throw new Error('a count has no row')
      return counted
    }
    await this.#counts.refresh({ filters, account, changeId, count })
    const now = clock.now()
    const claims = (await database.first(queries.claimCount(now)))?.count ?? 0
    // At worst, the first ones are held.
    const { items, next } = await lists.page(listingOf(view, claims + spare, now))
    return { names: items.map(([name]) => String(name)), isWhole: next === undefined, changeId }
  }

  async #claimIn(
    tx: Transaction,
    groups: readonly (readonly Waiting[])[],
    read: ReadonlyMap<QueueView, FirstMatches>,
    mayRetry: boolean,
  ): Promise<Answered[]> {
    const { database, clock } = this.#options
    const lock = queries.claimsLock(database.dialect)
    if (lock !== undefined) await tx.all(lock)
    const now = clock.now()
    const answered: Answered[] = []
    for (const group of groups) {
      const [first] = group
      if (first === undefined) continue
      const firstMatches = read.get(first.view)
      const { accountId: account } = first
      const options = { ...this.#options, counts: this.#counts, account, firstMatches, mayRetry }
      const claimed = await claimBatch(tx, options, first.view, group, now)
      for (const [i, waiting] of group.entries()) {
        const answer = claimed[i]
        if (answer !== undefined) answered.push([waiting, answer])
      }
    }
    return answered
  }
}
