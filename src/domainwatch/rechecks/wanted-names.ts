import { inBatches } from '../../lib/background-jobs.ts'
import { type Clock, InterruptibleSleep } from '../../lib/clock.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import { allMatches, finish, TimeSlice } from '../../lib/name-index/index.ts'
import type { Database } from '../../storage/database/database.ts'
import { changedNames } from '../../storage/database/changes/change-log.ts'
import { Follower } from '../../storage/database/changes/follower.ts'
import { storeRows } from '../../storage/database/rows.ts'
import type { FilterContext } from '../filter-context.ts'
import { withDerived } from '../filtered-record.ts'
import { matches, type FilteredRecord, type Filters } from '../filters.ts'
import { nameOfHit } from '../list/hits.ts'
import type { NameIndex } from '../list/name-index.ts'
import { indexQuery } from '../list/search.ts'
import { recordsNamed } from '../queries-records.ts'
import type { Rules } from '../rules/index.ts'
import type { SplitName } from '../words/dictionary.ts'
import { hash } from 'node:crypto'
import { readSavedFilters } from '../watches/watch-filters.ts'
import type { DnsWatch } from './queries.ts'
import * as queries from './queries.ts'

/** Names read and added at a time, so that other readers and writers get their turn. */
const PAGE = 1_000
/** How often to look for changed records, and for watches that were created, edited or deleted. */
const WATCHES_MS = 1_000
/** How often to look for names of accounts without such watches: a check in progress may have stored one. */
const RELEASE_MS = 10_000
/** Names that the watches of an account can have looked up again. */
const MAX_NAMES_PER_ACCOUNT = 100_000

export interface WantedNamesOptions {
  readonly database: Database
  readonly nameIndex: Pick<NameIndex, 'current' | 'contextAt'>
  readonly clock: Clock
  readonly vocabulary: Vocabulary
  readonly split: SplitName
  readonly rules: Pick<Rules, 'current'>
  readonly intervalMs: number
  /** Records with one of these tags are looked up again. */
  readonly tags: readonly string[]
}

/**
 * Keeps the table of names to look up again complete: all that are wanted when it starts or when a watch is new, and then those of
 * records that change. Names that are no longer wanted are removed when their time comes.
 */
export class WantedNames {
  readonly #options: WantedNamesOptions
  /** By id and filters of the watch. Empty until they have been read. */
  #rules: ReadonlyMap<string, RecheckRule | undefined> = new Map()
  /** Names of each account, at least. */
  readonly #counts = new Map<number, number>()
  #releasedAt = Number.NEGATIVE_INFINITY

  constructor(options: WantedNamesOptions) {
    this.#options = options
  }

  /**
   * On whose behalf names are looked up: everyone, and the accounts with such watches. Nobody until the rules have been read,
   * because a name that no rule selects would be removed.
   */
  get owners(): readonly number[] {
    if (this.#rules.size === 0) return []
    const owners = [...this.#rules.values()].map((rule) => rule?.owner ?? EVERYBODY)
    return [...new Set([EVERYBODY, ...owners])]
  }

  /** Returns on whose behalf records are looked up: `EVERYBODY` or an account. Names that no rule selects are left out. */
  async findOwners(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { clock, database, nameIndex, rules, split } = this.#options
    const context = nameIndex.contextAt(clock.now())
    const { hides } = await rules.current()
    const owners = new Map<string, number>()
    for (const row of await database.all(recordsNamed(database.dialect, names, context.now))) {
      const owner = this.#findOwner(withDerived(row, split, hides), context)
      if (owner !== undefined) owners.set(row.name, owner)
    }
    return owners
  }

  #findOwner(record: FilteredRecord, context: FilterContext): number | undefined {
    for (const rule of this.#rules.values())
      if (rule !== undefined && matches(rule.filters, record, context) && rule.resembles(record.name))
        return rule.owner
    return undefined
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, database } = this.#options
    const pause = clock.moved ?? new InterruptibleSleep()
    const follower = new Follower({
      log: database.changes,
      scanner: database.scanner,
      selection: changedNames(database.dialect),
      apply: async (text, _count, _isOverlapping, applied) => {
        await this.#addChanged(JSON.parse(`[${text}]`), signal)
        applied()
      },
      signal,
    })
    while (!signal.aborted) {
      if (follower.seen === undefined) {
        await follower.begin()
        await this.#addAll(signal)
      }
      await this.#readRules(signal)
      await follower.catchUp()
      await pause.sleep(WATCHES_MS, signal)
    }
  }

  async #addAll(signal: AbortSignal): Promise<void> {
    await this.#readRules(signal, new Map())
    for (const owner of this.owners) await this.#bringForward(owner, signal)
  }

  /**
   * Adds the names of new and edited watches, and releases those of accounts that have none any more.
   * @param known rules whose names were added before
   */
  async #readRules(signal: AbortSignal, known = this.#rules): Promise<void> {
    const { clock, database, tags, vocabulary } = this.#options
    const rows = [...standingRules(tags), ...(await database.all(queries.dnsWatches(clock.now())))]
    this.#rules = new Map(
      rows.map((row) => {
        const key = `${row.id} ${row.filters}`
        return [key, known.has(key) ? known.get(key) : ruleOf(row, vocabulary)]
      }),
    )
    const added = [...this.#rules].filter(([key]) => !known.has(key))
    for (const [, rule] of added) if (rule !== undefined) await this.#addMatches(rule, signal)
    const isSame = added.length === 0 && this.#rules.size === known.size
    if (!isSame || performance.now() - this.#releasedAt > RELEASE_MS) await this.#releaseOthers(signal)
  }

  async #addMatches({ owner, filters, resembles }: RecheckRule, signal: AbortSignal): Promise<void> {
    const { clock, database, nameIndex } = this.#options
    if (owner !== EVERYBODY) {
      const all = queries.countChecks(owner, Number.MAX_SAFE_INTEGER, MAX_NAMES_PER_ACCOUNT)
      this.#counts.set(owner, (await database.first(all))?.count ?? 0)
    }
    const { registered } = await nameIndex.current({ filters, isFresh: true })
    const names: string[] = []
    const slice = new TimeSlice()
    const query = indexQuery(filters, nameIndex.contextAt(clock.now()))
    const find = allMatches(registered, query, slice, (segment, position) => {
      const name = nameOfHit({ segment, position })
      if (resembles(name)) names.push(name)
    })
    await finish(find, slice, signal)
    for (let from = 0; from < names.length && !this.#isFull(owner) && !signal.aborted; from += PAGE)
      await this.#add(names.slice(from, from + PAGE), owner)
  }

  /** Adds the names of changed records that are wanted. */
  async #addChanged(names: readonly string[], signal: AbortSignal): Promise<void> {
    for (let from = 0; from < names.length && !signal.aborted; from += PAGE) {
      const owners = await this.findOwners([...new Set(names.slice(from, from + PAGE))])
      for (const owner of new Set(owners.values())) {
        if (this.#isFull(owner)) continue
        await this.#add(
          [...owners.keys()].filter((name) => owners.get(name) === owner),
          owner,
        )
      }
    }
  }

  #isFull(owner: number): boolean {
    return owner !== EVERYBODY && (this.#counts.get(owner) ?? 0) >= MAX_NAMES_PER_ACCOUNT
  }

  async #add(names: readonly string[], owner: number): Promise<void> {
    if (names.length === 0) return
    const { clock, database, intervalMs } = this.#options
    const now = clock.now()
    const checks = names.map((name) => ({
      name,
      account_id: owner,
      due_at: nextCheck(name, now, intervalMs),
    }))
    const added = await database.transaction((tx) => tx.run(queries.addChecks(database.dialect, checks)))
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + added)
  }

  /** Assigns the names of accounts without such watches to everyone: the next check decides whether they are still wanted. */
  async #releaseOthers(signal: AbortSignal): Promise<void> {
    this.#releasedAt = performance.now()
    const { database } = this.#options
    const owners = new Set(this.owners)
    for (let owner: number | null | undefined = EVERYBODY; !signal.aborted;) {
      owner = (await database.first(queries.nextOwner(owner)))?.owner
      if (owner === null || owner === undefined) return
      const given = owner
      if (owners.has(given)) continue
      await inBatches(PAGE, signal, () =>
        database.transaction((tx) => tx.run(queries.releaseChecks(given, PAGE))),
      )
    }
  }

  /** Reschedules names that are due later than the interval allows, because it was longer before. */
  async #bringForward(owner: number, signal: AbortSignal): Promise<void> {
    const { clock, database, intervalMs } = this.#options
    await inBatches(PAGE, signal, async () => {
      const now = clock.now()
      const late = await database.all(queries.lateChecks(owner, now + intervalMs, PAGE))
      const rows = late.map(({ name, account_id }) => [name, account_id, nextCheck(name, now, intervalMs)])
      if (rows.length > 0)
        await database.transaction((tx) => storeRows(tx, database.dialect, queries.CHECKS, rows))
      return rows.length
    })
  }
}

/** Stands for all members, in place of the account whose watch asks for a name. */
export const EVERYBODY = 0

/** Selects names that are looked up again. */
export interface RecheckRule {
  /** On whose behalf. */
  readonly owner: number
  readonly filters: Filters
  /** Returns true for a name that resembles the one that the watch is about, if it is about one. */
  readonly resembles: (name: string) => boolean
}

/** The rules that apply without any watch, in the form of watches: records in review, and those with one of some tags. */
function standingRules(tags: readonly string[]): readonly DnsWatch[] {
  return [{ revision: '1' }, ...tags.map((tag) => ({ tag }))].map((filters) => ({
    id: '',
    account_id: EVERYBODY,
    filters: JSON.stringify({ ...filters, dns: '1' }),
  }))
}

/** Returns undefined if the filters are not those of this version. */
function ruleOf(row: DnsWatch, vocabulary: Vocabulary): RecheckRule | undefined {
  const wanted = readSavedFilters(row.filters, vocabulary)
  return wanted?.looksUpDns === true ? { owner: row.account_id, ...wanted } : undefined
}

/**
 * Returns the next regular time after `now` at which a name is looked up. Each name has its own offset in the interval, derived
 * from a hash, so that look-ups are spread evenly and keep their times across restarts. All times in milliseconds.
 */
export function nextCheck(name: string, now: number, intervalMs: number): number {
  const offset = Number.parseInt(hash('sha256', name).slice(0, 12), 16) % intervalMs
  return (Math.floor((now - offset) / intervalMs) + 1) * intervalMs + offset
}
