import type { Clock } from '../lib/clock.ts'
import { Gate } from '../lib/gate.ts'
import { POOLS } from '../lib/limits.ts'
import { countMatches, finish, TimeSlice } from '../lib/name-index/index.ts'
import { accountClient } from '../lib/client.ts'
import type { Database, Transaction } from '../storage/database/database.ts'
import { domainErrors } from './errors.ts'
import { withDerived } from './filtered-record.ts'
import { matches, type Filters } from './filters.ts'
import { CLAIM_MINUTES, MAX_CLAIMS } from './limits.ts'
import { nameOfHit } from './list/hits.ts'
import type { InterestModel, Ranking } from './tasks/scores.ts'
import type { DomainContext } from './context.ts'
import type { ListOrder } from './list/order.ts'
import { findPage, indexQuery, type IndexSegments } from './list/search.ts'
import { recordsNamed, type RecordRow } from './queries-records.ts'
import { NameSet } from './servers.ts'
import * as queries from './queries-records.ts'

/** Candidates besides those wanted: some may be claimed or changed before the transaction. Ten times as many with each attempt. */
const SPARE = 20
const MAX_ATTEMPTS = 3
/** Accounts in an answer: more than any group has members. */
const MAX_HOLDERS = 1_000

const CLAIM_MS = CLAIM_MINUTES * 60_000

/** Which records are claimed, and in which order. */
interface QueueView {
  readonly filters: Filters
  readonly order: ListOrder
  readonly ascending: boolean
}

/** A view, and what sorts its records by interest. */
interface SortedView extends QueueView {
  readonly ranking: Ranking | undefined
}

interface ClaimRequest {
  readonly accountId: number
  readonly limit: number
}

interface Claimed {
  readonly records: readonly RecordRow[]
  /** Matching records that no other account holds. */
  readonly remaining: number
  /** Milliseconds since 1970. */
  readonly until: number
  /** The model that sorted them. */
  readonly model?: InterestModel | undefined
}

/** What the index knew before the transaction. */
interface Candidates {
  /** Names of the first matches, in order, then of those that the account holds behind them. */
  readonly names: readonly string[]
  /** Whether there are no more to claim, or no more are looked for. */
  readonly isWhole: boolean
  /** All matches. */
  readonly count: number
}

type QueueContext = Pick<
  DomainContext,
  'clock' | 'database' | 'dictionary' | 'interest' | 'nameIndex' | 'rules'
>

/** The queue of records to decide on. The index finds candidates; a transaction reads them and decides. */
export class ClaimQueue {
  readonly #options: QueueContext
  readonly #gate = new Gate(POOLS.claims)

  constructor(options: QueueContext) {
    this.#options = options
  }

  /**
   * Claims the next records of a view, after those that the account holds.
   * @param signal ends the wait
   * @throws HttpError 409 if the account holds as many as it may, none of which matches; 400 for the order by interest before
   *   there are enough decisions
   * @throws OverloadError if too many calls wait
   */
  claim(view: QueueView, request: ClaimRequest, signal: AbortSignal): Promise<Claimed> {
    return this.#gate.run(accountClient(request.accountId), () => this.#claim(view, request, signal), signal)
  }

  /** Releases records that the account holds, all or those with these names. Returns their number. */
  release(accountId: number, names?: readonly string[]): Promise<number> {
    const { database, clock } = this.#options
    return releaseClaims(database, clock, accountId, names)
  }

  /** The accounts that hold records now. @param accountId the account that asks */
  holders(accountId: number): Promise<readonly queries.Holder[]> {
    const { database, clock } = this.#options
    return database.readerOf(accountClient(accountId)).all(queries.holders(clock.now(), MAX_HOLDERS))
  }

  async #claim(view: QueueView, request: ClaimRequest, signal: AbortSignal): Promise<Claimed> {
    const { clock, database, interest, nameIndex } = this.#options
    const { filters, order } = view
    const model = order === 'interest' ? await interest.getModel() : undefined
    for (let attempt = 1; ; attempt++) {
      const segments = await nameIndex.current({ filters, model, isFresh: true, left: () => signal })
      const ranking = model && nameIndex.scores.ranking(model, segments.registered)
      const sorted = { ...view, ranking }
      const held = await database
        .readerOf(accountClient(request.accountId))
        .all(queries.heldRecords(clock.now()))
      // At worst, the first ones are held.
      const wanted = request.limit + held.length + SPARE * 10 ** (attempt - 1)
      const own = held.filter(({ account_id }) => account_id === request.accountId).map(({ name }) => name)
      const found = await this.#candidates(segments, sorted, own, wanted, signal)
      const candidates = attempt < MAX_ATTEMPTS ? found : { ...found, isWhole: true }
      const claim = (tx: Transaction) => this.#claimIn(tx, sorted, request, candidates)
      const claimed = await database.transaction(claim, request.accountId)
      if (claimed !== undefined) return { ...claimed, model }
    }
  }

  /** @param own names of the records that the account holds: with other filters, or since others were freed, some are not among the first */
  async #candidates(
    segments: IndexSegments,
    view: SortedView,
    own: readonly string[],
    limit: number,
    signal: AbortSignal,
  ): Promise<Candidates> {
    const found = await this.#search(segments, view, limit, signal)
    const behind = own.filter((name) => !found.names.includes(name))
    if (found.isWhole || behind.length === 0) return found
    const filters = { ...view.filters, among: new NameSet(new Set(behind)) }
    const { names } = await this.#search(segments, { ...view, filters }, MAX_CLAIMS, signal)
    return { ...found, names: [...found.names, ...names] }
  }

  async #search(
    segments: IndexSegments,
    view: SortedView,
    limit: number,
    signal: AbortSignal,
  ): Promise<Candidates> {
    const { clock, nameIndex } = this.#options
    const context = nameIndex.contextAt(clock.now())
    const slice = new TimeSlice()
    const listing = { ...view, sources: [{ kind: 'all' }], limit, context } as const
    const { items, next } = await finish(findPage(segments, listing, slice), slice, signal)
    const names = items.map(nameOfHit)
    if (next === undefined) return { names, isWhole: true, count: names.length }
    const all = countMatches(segments.registered, indexQuery(view.filters, context), slice)
    const count = await finish(all, slice, signal)
    return { names, isWhole: false, count }
  }

  /** Returns undefined if there are too few candidates left. */
  async #claimIn(
    tx: Transaction,
    view: SortedView,
    { accountId, limit }: ClaimRequest,
    candidates: Candidates,
  ): Promise<Claimed | undefined> {
    const { clock, database } = this.#options
    const { dialect } = database
    const lock = queries.claimsLock(dialect)
    if (lock !== undefined) await tx.all(lock)
    const now = clock.now()
    await tx.run(queries.deleteEndedClaims(dialect, now))
    const held = await tx.all(queries.heldRecords(now))
    const getHolder = new Map(held.map(({ name, account_id }) => [name, account_id]))
    const names = [...new Set([...candidates.names, ...getHolder.keys()])]
    const records = await this.#matching(tx, view, names, now)
    const own = records.filter(({ name }) => getHolder.get(name) === accountId)
    const free = records.filter(({ name }) => !getHolder.has(name))
    const room = MAX_CLAIMS - held.filter(({ account_id }) => account_id === accountId).length
    const missing = Math.max(0, limit - own.length)
    if (missing > 0 && room <= 0 && own.length === 0 && free.length > 0)
      throw domainErrors.too_many_claims(MAX_CLAIMS)
    const wanted = Math.min(missing, Math.max(0, room))
    if (free.length < wanted && !candidates.isWhole) return undefined
    const taken = [...own, ...free.slice(0, wanted)]
    const until = now + CLAIM_MS
    const claims = taken.map(({ name }) => name).toSorted()
    const stored =
      claims.length === 0 ? [] : await tx.all(queries.storeClaims(dialect, accountId, claims, { now, until }))
    const isHeld = new Set(stored.map(({ name }) => name))
    const ofOthers = records.length - own.length - free.length
    return {
      records: taken.filter(({ name }) => isHeld.has(name)).slice(0, limit),
      remaining: Math.max(0, candidates.count - ofOthers),
      until,
    }
  }

  /** Those of these records that match now, in the order of the names. */
  async #matching(
    tx: Transaction,
    { filters }: SortedView,
    names: readonly string[],
    now: number,
  ): Promise<RecordRow[]> {
    if (names.length === 0) return []
    const { database, dictionary, nameIndex, rules } = this.#options
    const context = nameIndex.contextAt(now)
    const { hides } = await rules.current(tx)
    const rows = await tx.all(recordsNamed(database.dialect, names, now))
    const matching = rows.filter((row) =>
      matches(filters, withDerived(row, dictionary.split, hides), context),
    )
    const byName = new Map(matching.map((row) => [row.name, row]))
    return names.flatMap((name) => byName.get(name) ?? [])
  }
}

/** Ends claims of an account: all, or those of records with these names. @returns their number */
export const releaseClaims = (
  { dialect, transaction }: Pick<Database, 'dialect' | 'transaction'>,
  clock: Clock,
  accountId: number,
  names?: readonly string[],
): Promise<number> =>
  transaction((tx) => tx.run(queries.endClaims(dialect, accountId, clock.now(), names)), accountId)
