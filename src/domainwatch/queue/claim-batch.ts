import { HttpError } from '../../lib/errors.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { domainErrors } from '../errors.ts'
import { CLAIM_MINUTES, MAX_CLAIMS } from '../limits.ts'
import { findPage, findSorted, isLongSearch, nameOfHit } from '../list/index-page.ts'
import type { NameIndex } from '../list/name-index.ts'
import { stagesFrom, type Listing } from '../list/order.ts'
import { countMatching } from '../queries-filters.ts'
import { advanced, BEFORE_EXPIRY, changesOf, type MatchCounts, type RecordChange } from './match-counts.ts'
import type { SplitName } from '../words/dictionary.ts'
import * as queries from './queries.ts'
import type { QueueView } from './queries.ts'

/** Changes after the index, or after a count, that are processed one by one; with more, the database counts and searches. */
const MAX_CHANGES = 1_000
/** Records that the index finds without blocking the event loop for long; with more, the database searches. */
const MAX_CANDIDATES = 8_192

const CLAIM_MS = CLAIM_MINUTES * 60_000

/** One of several calls with the same view. */
export interface ClaimRequest {
  readonly accountId: number
  readonly limit: number
}

export interface Claimed {
  /** `COLUMNS` of the queries. */
  readonly rows: readonly SqlValue[][]
  /** Matching records that no other account holds. */
  readonly remaining: number
  /** Milliseconds since 1970. */
  readonly until: number
}

/** What was read before the transaction lacks too much, so that counting and searching in it would take long. */
export class ReadTooLittle extends Error {
  override readonly name = 'ReadTooLittle'
}

/** The first matching records as of a change, claimed or not. */
export interface FirstMatches {
  readonly names: readonly string[]
  /** Whether there are no more. */
  readonly isWhole: boolean
  /** All changes up to this one are taken into account. */
  readonly changeId: number
}

export interface ClaimOptions {
  readonly database: Pick<Database, 'dialect'>
  readonly nameIndex: Pick<NameIndex, 'latest'>
  readonly counts: MatchCounts
  /** Whose share of the cached counts the view uses. */
  readonly account: number
  /** Returns the words of a name. */
  readonly split: SplitName
  /** Read from the database before the transaction, if it has one writer and the index is not ready. */
  readonly firstMatches: FirstMatches | undefined
  /** Whether to throw `ReadTooLittle`, so that the caller can read again, instead of asking the database in the transaction. */
  readonly mayRetry: boolean
}

/** What a claim depends on, in one snapshot. */
interface State {
  /** Matching records. */
  readonly matches: number
  /** Matching records that are claimed, with their accounts. */
  readonly held: ReadonlyMap<string, number>
  /** Claims of each account. */
  readonly totals: Map<number, number>
  /** All changes after this id; undefined if there are too many. */
  readonly changes: readonly RecordChange[] | undefined
  readonly changesAfter: number
}

/** Names of unclaimed records, in order, as far as they were read. */
interface Candidates {
  readonly names: readonly string[]
  /** Names of records whose position in the order may have changed. */
  readonly moved: ReadonlySet<string>
  /** Whether there are no more. */
  readonly isWhole: boolean
}

/**
 * Claims records for several calls with the same view, as if one came after the other.
 *
 * Candidates come from the index, which may be behind. The records that have changed since are candidates, too, and the
 * database decides which of all these match now and are free.
 * @throws ReadTooLittle
 */
export async function claimBatch(
  tx: Transaction,
  options: ClaimOptions,
  view: QueueView,
  requests: readonly ClaimRequest[],
  now: number,
): Promise<(Claimed | HttpError)[]> {
  const { dialect } = options.database
  const accounts = new Set(requests.map(({ accountId }) => accountId))
  const state = await readState(tx, options, view, [...accounts], now)
  const heldBy = countBy(state.held.values())
  const wanted = requests.reduce((sum, { accountId, limit }) => {
    return sum + Math.max(0, limit - (heldBy.get(accountId) ?? 0))
  }, 0)
  const candidates = await readCandidates(tx, options, view, state, wanted, now)
  const { own, free } = await readRecords(tx, options, view, state, candidates, accounts, now)

  const answers = requests.map(({ accountId, limit }) => {
    const rows = own.get(accountId) ?? []
    const missing = Math.min(Math.max(0, limit - rows.length), free.length)
    const room = MAX_CLAIMS - (state.totals.get(accountId) ?? 0)
    if (missing > 0 && room <= 0 && rows.length === 0) return tooManyClaims()
    const taken = free.splice(0, Math.min(missing, Math.max(0, room)))
    rows.push(...taken)
    own.set(accountId, rows)
    state.totals.set(accountId, (state.totals.get(accountId) ?? 0) + taken.length)
    heldBy.set(accountId, (heldBy.get(accountId) ?? 0) + taken.length)
    return rows.slice(0, limit)
  })

  const until = now + CLAIM_MS
  const claims = [...own].flatMap(([account, rows]) => rows.map((row) => [nameOf(row), account] as const))
  claims.sort(([a], [b]) => (a < b ? -1 : 1))
  const stored = claims.length === 0 ? [] : await tx.all(queries.storeClaims(dialect, claims, { now, until }))
  const held = new Set(stored.map(({ name }) => name))
  const total = [...heldBy.values()].reduce((sum, count) => sum + count, 0)
  return requests.map(({ accountId }, i) => {
    const rows = answers[i]
    if (rows === undefined || rows instanceof HttpError) return rows ?? tooManyClaims()
    const remaining = state.matches - (total - (heldBy.get(accountId) ?? 0))
    return { rows: rows.filter((row) => held.has(nameOf(row))), remaining, until }
  })
}

const nameOf = (row: readonly SqlValue[]): string => String(row[0])

export const tooManyClaims = () => domainErrors.too_many_claims(MAX_CLAIMS)

function countBy(accounts: Iterable<number>): Map<number, number> {
  const counts = new Map<number, number>()
  for (const account of accounts) counts.set(account, (counts.get(account) ?? 0) + 1)
  return counts
}

async function readState(
  tx: Transaction,
  { database: { dialect }, nameIndex, counts, account, split, firstMatches, mayRetry }: ClaimOptions,
  { filters }: QueueView,
  accounts: readonly number[],
  now: number,
): Promise<State> {
  let known = counts.get(filters)
  const indexed = nameIndex.latest()?.changeId
  const read = [known?.changeId, indexed, firstMatches?.changeId].filter((id) => id !== undefined)
  const after = Math.min(Number.MAX_SAFE_INTEGER, ...read)
  const request = { filters, now, accounts, after, maxChanges: MAX_CHANGES }
  const row = await tx.first(queries.queueState(dialect, request))
  if (row === undefined) throw new Error('the state of the queue has no row')
  const changes = row.read < MAX_CHANGES ? changesOf(row.changes, split) : undefined
  const isForgotten = known !== undefined && known.changeId < row.floor
  if (isForgotten) {
    counts.forget(filters)
    known = undefined
  }
  const hasRead = indexed !== undefined || firstMatches !== undefined
  if ((changes === undefined || isForgotten) && hasRead && mayRetry) throw new ReadTooLittle()
  let matches: number
  if (known !== undefined && changes !== undefined) {
    matches = advanced(known, filters, changes, Infinity).matches
    // Of later changes, some may not be visible yet.
    const final = indexed ?? (await tx.newestChange())
    if (final !== undefined) counts.set(filters, account, advanced(known, filters, changes, final))
  } else {
    matches = (await tx.first(countMatching(dialect, filters, BEFORE_EXPIRY)))?.count ?? 0
    const newest = await tx.newestChange()
    if (newest !== undefined) counts.set(filters, account, { matches, changeId: newest })
  }
  const held = pairs(row.held).map(([name, account]) => [name, Number(account)] as const)
  const totals = pairs(row.totals).map(([account, total]) => [Number(account), Number(total)] as const)
  return {
    matches: matches - row.expired,
    held: new Map(held),
    totals: new Map(totals),
    changes,
    changesAfter: after,
  }
}

function pairs(text: string | null): [string, string][] {
  const words = text?.split(' ') ?? []
  return Array.from({ length: words.length >> 1 }, (_, i) => [words[2 * i] ?? '', words[2 * i + 1] ?? ''])
}

/** @param wanted free records to find */
async function readCandidates(
  tx: Transaction,
  { database: { dialect }, nameIndex, firstMatches, mayRetry }: ClaimOptions,
  view: QueueView,
  { held, changes, changesAfter }: State,
  wanted: number,
  now: number,
): Promise<Candidates> {
  if (wanted === 0) return { names: [], moved: new Set(), isWhole: false }
  const latest = nameIndex.latest()
  // The index may have become ready only now, without the changes before these.
  if (latest !== undefined && latest.changeId >= changesAfter && changes !== undefined) {
    const moved = new Set(changes.filter(({ id }) => id > latest.changeId).map(({ name }) => name))
    // At worst, the first ones are held or have moved.
    const listing = listingOf(view, wanted + held.size + moved.size, now)
    const find = isLongSearch(listing) ? findSorted : findPage
    const found = listing.limit > MAX_CANDIDATES ? undefined : await find(latest.segments, listing)
    if (found !== undefined) {
      const free = found.items.map(nameOfHit).filter((name) => !held.has(name))
      const names = free.slice(0, wanted + moved.size)
      return { names, moved, isWhole: found.next === undefined && names.length === free.length }
    }
  }
  if (firstMatches !== undefined && changes !== undefined) {
    const moved = new Set(changes.filter(({ id }) => id > firstMatches.changeId).map(({ name }) => name))
    const names = firstMatches.names.filter((name) => !held.has(name))
    if (firstMatches.isWhole || names.length >= wanted + moved.size)
      return { names, moved, isWhole: firstMatches.isWhole }
    if (mayRetry) throw new ReadTooLittle()
  }
  const names: string[] = []
  const listing = listingOf(view, wanted + held.size, now)
  for (const stage of stagesFrom(listing, listing.sources)) {
    const rows = await tx.all(queries.freeNames(dialect, { ...listing, ...stage }))
    for (const { name } of rows) names.push(name)
    if (names.length >= wanted) break
  }
  return { names, moved: new Set(), isWhole: names.length < wanted }
}

export const listingOf = ({ filters, order, ascending }: QueueView, limit: number, now: number): Listing => ({
  sources: [{ kind: 'all' }],
  filters,
  order,
  ascending,
  limit,
  now,
})

/** The matching records of these accounts, and the free ones in order: no other is before the last of them. */
async function readRecords(
  tx: Transaction,
  { database: { dialect } }: ClaimOptions,
  view: QueueView,
  { held }: State,
  { names, moved, isWhole }: Candidates,
  accounts: ReadonlySet<number>,
  now: number,
): Promise<{ own: Map<number, SqlValue[][]>; free: SqlValue[][] }> {
  const ofAccounts = [...held].flatMap(([name, account]) => (accounts.has(account) ? [name] : []))
  const others = new Set([...names, ...[...moved].filter((name) => !held.has(name))])
  const own = new Map<number, SqlValue[][]>()
  const free: SqlValue[][] = []
  if (ofAccounts.length + others.size === 0) return { own, free }
  let lastInPlace = -1
  for (const row of await tx.values(queries.matchingRows(dialect, [...ofAccounts, ...others], view, now))) {
    const holder = row[queries.HOLDER] ?? null
    if (holder === null) {
      if (!moved.has(nameOf(row))) lastInPlace = free.length
      free.push(row)
    } else if (accounts.has(Number(holder))) {
      const rows = own.get(Number(holder)) ?? []
      rows.push(row)
      own.set(Number(holder), rows)
    }
  }
  // After the last one that kept its position, unread records may come first.
  if (!isWhole) free.length = lastInPlace + 1
  return { own, free }
}
