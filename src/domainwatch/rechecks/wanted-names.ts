import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import type { Database } from '../../storage/database/database.ts'
import { storeRows } from '../../storage/database/rows.ts'
import type { EventPages } from '../events/pages.ts'
import { recordsNamed } from '../queries-records.ts'
import type { SplitName } from '../words/dictionary.ts'
import * as queries from './queries.ts'
import { dnsWatchOf, EVERYBODY, nextCheck, RecheckRules, type DnsWatch } from './rules.ts'

/** Names read and added at a time, so that other readers and writers get their turn. */
const PAGE = 1_000
/** Records compared with the filters of a watch at a time. */
const SCAN_PAGE = 5_000
/** Pause between pages. */
const PAUSE_MS = 20
/** How often to look for watches that were created, edited or deleted. */
const WATCHES_MS = 1_000
/** How often to look for names of accounts without such watches: a check in progress may have stored one. */
const DISOWN_MS = 10_000
/** Names that the watches of an account can have looked up again. */
const MAX_NAMES_PER_ACCOUNT = 100_000

export interface WantedNamesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly pages: EventPages
  readonly vocabulary: Vocabulary
  readonly intervalMs: number
  /** Records with one of these tags are looked up again. */
  readonly tags: readonly string[]
  readonly split: SplitName
}

/**
 * Keeps the table of names to look up again complete: all that are wanted when it starts or when a watch is new, and then those of
 * records that change. Names that are no longer wanted are removed when their time comes.
 */
export class WantedNames {
  readonly #options: WantedNamesOptions
  #rules: RecheckRules
  /** Names of each account, at least. */
  readonly #counts = new Map<number, number>()
  #disownedAt = Number.NEGATIVE_INFINITY

  constructor(options: WantedNamesOptions) {
    this.#options = options
    this.#rules = new RecheckRules(options.tags, [])
  }

  get rules(): RecheckRules {
    return this.#rules
  }

  /** On whose behalf names are looked up: everyone, and the accounts with such watches. */
  get owners(): readonly number[] {
    return [EVERYBODY, ...new Set(this.#rules.watches.map(({ accountId }) => accountId))]
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { pages } = this.#options
    let cursor = await pages.head()
    await this.#addAll(signal)
    while (!signal.aborted) {
      await this.#readWatches(signal)
      const step = await pages.next(cursor, signal, WATCHES_MS)
      if (step.kind === 'ended') return
      if (step.kind === 'gap') {
        cursor = await pages.head()
        await this.#addAll(signal)
      } else if (step.kind === 'page') {
        cursor = step.page.cursor
        const changed = step.page.events.flatMap(({ kind, after }) =>
          kind !== 'dns' && after !== null && this.#rules.mayConcern(after) ? [after.name] : [],
        )
        if (changed.length > 0) await this.#addWanted([...new Set(changed)])
      }
    }
  }

  async #addAll(signal: AbortSignal): Promise<void> {
    this.#rules = new RecheckRules(this.#options.tags, [])
    await this.#addReviewed(signal)
    await this.#addTagged(signal)
    await this.#readWatches(signal)
    for (const owner of this.owners) await this.#bringForward(owner, signal)
  }

  /** Adds the names of new and edited watches, and releases those of accounts that have none any more. */
  async #readWatches(signal: AbortSignal): Promise<void> {
    const { clock, database, tags, vocabulary } = this.#options
    const rows = await database.all(queries.dnsWatches(clock.now()))
    const known = new Map(this.#rules.watches.map((watch) => [watch.id, watch]))
    const isSame =
      rows.length === known.size && rows.every(({ id, filters }) => known.get(id)?.saved === filters)
    if (isSame) {
      if (performance.now() - this.#disownedAt > DISOWN_MS) await this.#disownOthers(signal)
      return
    }
    const watches = rows.flatMap((row) => {
      const before = known.get(row.id)
      const watch = before?.saved === row.filters ? before : dnsWatchOf(row, vocabulary)
      return watch === undefined ? [] : [watch]
    })
    this.#rules = new RecheckRules(tags, watches)
    for (const watch of watches) if (known.get(watch.id) !== watch) await this.#addMatches(watch, signal)
    await this.#disownOthers(signal)
  }

  async #addReviewed(signal: AbortSignal): Promise<void> {
    const { database } = this.#options
    let last: queries.ReviewPosition | undefined
    while (!signal.aborted) {
      const page = await database.all(queries.reviewPage(last, PAGE))
      await this.#add(page, EVERYBODY)
      last = page.at(-1)
      if (page.length < PAGE) return
      await pause(PAUSE_MS, undefined, { ref: false })
    }
  }

  async #addTagged(signal: AbortSignal): Promise<void> {
    const { database, tags } = this.#options
    let last = ''
    while (!signal.aborted && tags.length > 0) {
      const page = await database.all(queries.taggedPage(last, PAGE))
      const tagged = page.filter((row) => this.#rules.hasTag(row.tags))
      await this.#add(tagged, EVERYBODY)
      last = page.at(-1)?.name ?? last
      if (page.length < PAGE) return
      await pause(PAUSE_MS, undefined, { ref: false })
    }
  }

  async #addMatches({ accountId, filters, resembles }: DnsWatch, signal: AbortSignal): Promise<void> {
    const { clock, database } = this.#options
    const scanner = database.scannerOf(accountId)
    const counted = await database.first(
      queries.countChecks(accountId, Number.MAX_SAFE_INTEGER, MAX_NAMES_PER_ACCOUNT),
    )
    this.#counts.set(accountId, counted?.count ?? 0)
    let last = ''
    while (!signal.aborted && !this.#isFull(accountId)) {
      const page = await scanner.all(
        queries.matchingPage(database.dialect, filters, clock.now(), last, SCAN_PAGE),
      )
      const found = page.filter(({ name, is_match }) => is_match === 1 && resembles(name))
      await this.#add(found, accountId)
      last = page.at(-1)?.name ?? last
      if (page.length < SCAN_PAGE) return
      await pause(PAUSE_MS, undefined, { ref: false })
    }
  }

  /** Adds those of some names that are wanted now. */
  async #addWanted(names: readonly string[]): Promise<void> {
    const { clock, database, split } = this.#options
    const wanted = new Map<number, { name: string }[]>()
    for (const row of await database.all(recordsNamed(database.dialect, names, clock.now()))) {
      const owner = this.#rules.ownerOf(row, clock.now(), split)
      if (owner === undefined || this.#isFull(owner)) continue
      wanted.set(owner, [...(wanted.get(owner) ?? []), row])
    }
    for (const [owner, rows] of wanted) await this.#add(rows, owner)
  }

  #isFull(owner: number): boolean {
    return owner !== EVERYBODY && (this.#counts.get(owner) ?? 0) >= MAX_NAMES_PER_ACCOUNT
  }

  async #add(names: readonly { readonly name: string }[], owner: number): Promise<void> {
    if (names.length === 0) return
    const { clock, database, intervalMs } = this.#options
    const now = clock.now()
    const checks = names.map(({ name }) => ({
      name,
      account_id: owner,
      due_at: nextCheck(name, now, intervalMs),
    }))
    const added = await database.transaction((tx) => tx.run(queries.addChecks(database.dialect, checks)))
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + added)
  }

  /** Assigns the names of accounts without such watches to everyone: the next check decides whether they are still wanted. */
  async #disownOthers(signal: AbortSignal): Promise<void> {
    this.#disownedAt = performance.now()
    const { database } = this.#options
    const owners = new Set(this.owners)
    for (let owner: number | null | undefined = EVERYBODY; !signal.aborted;) {
      owner = (await database.first(queries.nextOwner(owner)))?.owner
      if (owner === null || owner === undefined) return
      const given = owner
      while (!owners.has(given) && !signal.aborted) {
        const changed = await database.transaction((tx) => tx.run(queries.disownChecks(given, PAGE)))
        if (changed < PAGE) break
        await pause(PAUSE_MS, undefined, { ref: false })
      }
    }
  }

  /** Reschedules names that are due later than the interval allows, because it was longer before. */
  async #bringForward(owner: number, signal: AbortSignal): Promise<void> {
    const { clock, database, intervalMs } = this.#options
    while (!signal.aborted) {
      const now = clock.now()
      const late = await database.all(queries.lateChecks(owner, now + intervalMs, PAGE))
      if (late.length === 0) return
      const rows = late.map(({ name, account_id }) => [name, account_id, nextCheck(name, now, intervalMs)])
      await database.transaction((tx) => storeRows(tx, database.dialect, queries.CHECKS, rows))
      await pause(PAUSE_MS, undefined, { ref: false })
    }
  }
}
