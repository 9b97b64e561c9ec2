import { localDateTime, localLowerBound } from '../../lib/dates.ts'
import { encodeRows, type RowOf } from '../../storage/database/batch.ts'
import type { Transaction, Database } from '../../storage/database/database.ts'
import { storeRows } from '../../storage/database/tables.ts'
import type { ImportTarget, RowBatch, Effect } from '../import/writer.ts'
import { dismissedNamed } from '../queries-dismissed.ts'
import { noteAdd } from '../queries-records.ts'
import type { KnownRow, SourceRow } from './queries.ts'
import type { Facts, ListedRow, ListHead, ListKind, Skipped, Window } from './rules.ts'
import { inBatches } from '../../lib/concurrency.ts'
import type { Clock } from '../../lib/clock.ts'
import * as queries from './queries.ts'
import * as rules from './rules.ts'

/** A list of registrations may tell one of a month ago, which must not seem to follow a deletion of that time. */
const KEPT_MS = 62 * 24 * 60 * 60_000

/** A list of the registry, and the source that it comes from. */
export interface ListedBy extends ListHead {
  /** `feed:` and the name of a feed, or the name that an import gives. */
  readonly source: string
  readonly window: Window
  /**
   * If given, only records are changed that are free, but that lists of version 0.1.0 may have freed by mistake: called with
   * each that the list makes bought.
   */
  readonly repaired?: (name: string, was: Facts, is: Facts) => void
}

/** Why names that a list lacks are not known to be absent. An implausibly empty list was not taken at all. */
type Incomplete = 'damaged' | 'shrunken' | 'empty'

export interface ListResult {
  /** Undefined for a complete list. */
  readonly incomplete?: Incomplete | undefined
  /** Times between which names may have come and gone unseen, if that was not reported before. */
  readonly gap?: { readonly from: number; readonly to: number } | undefined
}

/** Applies one list of the registry to the records, in transactions of its caller. */
export class RegistryList {
  readonly #target: ImportTarget
  readonly #kind: ListKind
  readonly #list: ListedBy
  readonly #lowerBounds = new Map<number, string>()

  constructor(target: ImportTarget, kind: ListKind, list: ListedBy) {
    this.#target = target
    this.#kind = kind
    this.#list = list
  }

  /** Returns why the list changes nothing, if it does not. */
  async skipReason(): Promise<Skipped | undefined> {
    const { database, clock, account } = this.#target
    const found = await database.first(queries.sourceNamed(database.dialect, account.id, this.#list.source))
    return found && rules.skipReason(found, this.#list, clock.now())
  }

  /** Applies some of its names. */
  async apply(tx: Transaction, batch: RowBatch): Promise<Effect> {
    const { database, account, clock } = this.#target
    const { dialect } = database
    const { names } = batch
    const rows: readonly ListedRow[] = JSON.parse(batch.json)
    const rule = await (this.#kind === 'deletions' ? this.#deletions(tx, names) : this.#statements(tx, names))
    const records = byName(await tx.all(queries.knownRecords(dialect, names)))
    const dismissed = byName(await tx.all(dismissedNamed(dialect, names)))
    const inserted: RowOf<typeof queries.insertRecords>[] = []
    const changed: RowOf<typeof queries.changeRecords>[] = []
    for (const row of rows) {
      const [name, ascii, length, words] = row
      const record = records.get(name)
      const past = record === undefined ? dismissed.get(name) : undefined
      const known = record ?? past
      const facts = rule(known, row)
      if (facts === undefined) continue
      const news = rules.newsIn(known, facts)
      if (past !== undefined && !rules.endsDismissal(news)) continue
      const changes = { name, ...this.#changes(record, facts, news) }
      if (record !== undefined) changed.push(changes)
      else {
        const { dismissed_by = null, dismissed_at = null } = past ?? {}
        inserted.push({ ...changes, ascii, length, words, dismissed_by, dismissed_at })
      }
    }
    const effect = { added: 0, changed: 0 }
    if (changed.length > 0)
      effect.changed = await tx.runMany(queries.changeRecords, [], encodeRows(queries.changeRecords, changed))
    if (inserted.length > 0) {
      const author = [account.name, account.name.toLowerCase()]
      effect.added = await tx.runMany(
        queries.insertRecords,
        author,
        encodeRows(queries.insertRecords, inserted),
      )
      effect.changed += effect.added
      // Others have added some of the names meanwhile: now they are visible.
      if (effect.added < inserted.length) {
        const { added, changed: more } = await this.apply(tx, batch)
        return { added: effect.added + added, changed: effect.changed + more }
      }
    }
    await tx.run(noteAdd(account.name, clock.now()))
    return effect
  }

  /**
   * Ends the list after all of its names were applied.
   * @param isWhole whether it was read to its end and every line was valid
   * @param names how many it has
   */
  async end(isWhole: boolean, names: number): Promise<ListResult> {
    const { database, clock } = this.#target
    const { at, digest, window, isForced } = this.#list
    return database.transaction(async (tx) => {
      const source = await this.#lockSource(tx)
      // Another process has read a newer list of the source meanwhile.
      if (rules.skipReason(source, { ...this.#list, isForced: true }, clock.now()) === 'older') return {}
      if (!isForced && rules.isImplausiblyEmpty(source, names)) return { incomplete: 'empty' }
      const completeAt = rules.lastComplete(source, at)
      const isGap =
        completeAt !== null && rules.isGap(completeAt, at, window) && source.gap_from !== completeAt
      if (isGap) await tx.run(queries.noteGap(source.id, completeAt, at))
      await tx.run(queries.noteList(source.id, at, digest))
      const gap = isGap ? { from: completeAt, to: at } : undefined
      if (!isWhole) return { gap, incomplete: 'damaged' }
      if (!isForced && rules.isShrunken(source, names)) return { gap, incomplete: 'shrunken' }
      await tx.run(queries.noteCompleteList(source.id, at, names))
      await tx.run(queries.forgetNames(source.id, at - KEPT_MS))
      return { gap }
    })
  }

  async #lockSource(tx: Transaction): Promise<SourceRow> {
    const { database, account } = this.#target
    const named = queries.sourceNamed(database.dialect, account.id, this.#list.source)
    const found = await tx.first(named)
    if (found !== undefined) return found
    await tx.run(queries.addSource(account.id, this.#list.source, this.#kind))
    const added = await tx.first(named)
    if (added === undefined) throw new Error(`the source ${this.#list.source} could not be added`)
    return added
  }

  /** Stores when each name was deleted at the earliest. @returns the rule that follows from it */
  async #deletions(tx: Transaction, names: readonly string[]): Promise<Rule> {
    const { database, clock, timeZone } = this.#target
    const { at, window } = this.#list
    const source = await this.#lockSource(tx)
    const completeAt = rules.lastComplete(source, at)
    const stored = byName(await tx.all(queries.listedNames(database.dialect, source.id, names)))
    const bounds = new Map<string, number>()
    const rows: [string, number, number, number][] = []
    const now = clock.now()
    for (const name of names) {
      const before = stored.get(name)
      // A time in the future was stored before the clock was set back. A name that a complete list lacked was forgotten.
      const isKnown = before !== undefined && before.listed_at <= now && before.listed_at >= (completeAt ?? 0)
      const known = isKnown ? before : undefined
      const notBefore = rules.earliestDeletion(known?.not_before, at, completeAt, window)
      bounds.set(name, notBefore)
      // Another process may be reading a newer list of the source.
      rows.push([name, source.id, notBefore, Math.max(at, known?.listed_at ?? at)])
    }
    await storeRows(tx, database.dialect, queries.LISTED_NAMES, rows)
    const shownAt = localDateTime(at, timeZone)
    return (known, [name]) => rules.deleted(known, this.#lowerBound(bounds.get(name) ?? at), shownAt)
  }

  /** @returns the rule for names with dates */
  async #statements(tx: Transaction, names: readonly string[]): Promise<Rule> {
    const bounds = byName(await tx.all(queries.latestBounds(this.#target.database.dialect, names)))
    return (known, [name, , , , from, to, deletedAt]) => {
      const registration = from === null || to === null ? undefined : { from, to }
      if (deletedAt === null) {
        const bound = bounds.get(name)
        const notBefore = bound && this.#lowerBound(bound.not_before)
        if (registration === undefined) return undefined
        const { repaired } = this.#list
        if (repaired === undefined) return rules.registered(known, registration, notBefore)
        const facts = known && rules.repaired(known, registration, notBefore)
        if (known !== undefined && facts !== undefined) repaired(name, known, facts)
        return facts
      }
      const isKnown = known !== undefined && deletedAt <= (known.released_at ?? known.date_reg)
      const facts = isKnown ? undefined : rules.deleted(known, deletedAt, deletedAt)
      const present = facts ?? known
      if (registration === undefined || present?.date_reg_known !== 0) return facts
      return { ...present, date_reg: registration.to, date_reg_known: 1 }
    }
  }

  #lowerBound(epochMs: number): string {
    let text = this.#lowerBounds.get(epochMs)
    if (text === undefined) {
      text = localLowerBound(epochMs, this.#target.timeZone)
      this.#lowerBounds.set(epochMs, text)
    }
    return text
  }

  #changes(record: KnownRow | undefined, facts: Facts, news: rules.News) {
    const { account, clock, timeZone } = this.#target
    const now = localDateTime(clock.now(), timeZone)
    const isDecided = news !== 'freed' && record?.status === facts.status
    const { announce_as, announce_at, announce_for } =
      news === 'freed'
        ? {
            announce_as: record === undefined ? 'added' : (record.announce_as ?? 'changed'),
            announce_at: this.#list.at + queries.ANNOUNCED_AFTER_MS,
            announce_for: account.id,
          }
        : facts.status === 1
          ? ANNOUNCED
          : (record ?? ANNOUNCED)
    return {
      ...facts,
      date_mod: news === 'earlier' && record !== undefined ? record.date_mod : now,
      status_at: isDecided ? record.status_at : now,
      seen_at: isDecided ? record.seen_at : null,
      seen_by: isDecided ? record.seen_by : null,
      announce_as,
      announce_at,
      announce_for,
    }
  }
}

/** Returns the facts of a name after the list; undefined if it tells nothing new. */
type Rule = (known: Facts | undefined, row: ListedRow) => Facts | undefined

const ANNOUNCED = { announce_as: null, announce_at: null, announce_for: null }

const byName = <Row extends { readonly name: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [row.name, row]))

/** Records announced per transaction, so that other writers get their turn. */
const BATCH = 2_000

/** Announces names that lists of deletions freed, once their account has read a list of registrations or 6 hours have passed. */
export function announceFreed(database: Database, clock: Clock, signal?: AbortSignal): Promise<number> {
  return inBatches(BATCH, signal, () =>
    database.transaction((tx) => tx.run(queries.announce(clock.now(), BATCH))),
  )
}

export async function hasToAnnounce(database: Database, clock: Clock): Promise<boolean> {
  return (await database.first(queries.anyToAnnounce(clock.now()))) !== undefined
}

/** Stores the time zone of records for commands, whose own setting may differ. */
export async function noteTimeZone(database: Database, timeZone: string): Promise<void> {
  if ((await database.first(queries.serviceTimeZone()))?.time_zone === timeZone) return
  await database.transaction((tx) => tx.run(queries.setServiceTimeZone(timeZone)))
}
