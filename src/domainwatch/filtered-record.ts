import { hasAtMostCharacters, isDisplayName } from '../lib/text.ts'
import { type Trait, parseTimestamp, wholeYears, twinKey, type Candidates } from '../lib/name-index/index.ts'
import type { Fields } from '../storage/database/changes/change.ts'
import { MAX_DROPS } from './limits.ts'
import type { SplitName } from './words.ts'
import { localDateTime } from '../lib/dates.ts'

export const MAX_TAGS = 10
export const MAX_TAG_CHARACTERS = 30

/** Returns a tag as it is stored; undefined if the text is not one. */
export function foldTag(text: string): string | undefined {
  const tag = text.toLowerCase().normalize('NFC')
  const isTag = /^[\p{L}\p{N}-]+$/u.test(tag) && isDisplayName(tag)
  return isTag && hasAtMostCharacters(tag, MAX_TAG_CHARACTERS) ? tag : undefined
}

/** Returns a column's value for tags, or for the words of a name: a space before and after each, so that `contains` finds one. */
export function toColumn(words: readonly string[]): string | null {
  return words.length === 0 ? null : ` ${words.join(' ')} `
}

/** Reverses `toColumn`. */
export function splitTags(column: string | null): readonly string[] {
  return column === null ? [] : column.trim().split(' ')
}

/** The fields of a record that filters look at. The log of changes has them too. */
export interface FilteredRecord {
  readonly name: string
  readonly agent: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  /** Milliseconds since 1970; null if it is not discarded. */
  readonly discarded_at: number | null
  /** The registration, or the deletion if that is unknown (`date_reg_known` is 0). */
  readonly date_reg: string
  readonly date_reg_known: number
  readonly date_mod: string
  /** When it was deleted; null if it is bought. */
  readonly deleted_at: string | null
  /** Periods in which it was free before the present one. */
  readonly past_drops: number
  /** When it got its status, or was recorded; null if that was before the service kept it. */
  readonly status_at: string | null
  /** When someone decided on it, in milliseconds since 1970; null if no one has. */
  readonly seen_at: number | null
  /** Each tag with a space before and after it (` casa venta `); null if there is none. */
  readonly tags: string | null
  /** Each word of the name likewise; null if it does not consist of words. */
  readonly words: string | null
  /** Imported numbers by key (`backlinks=12 volumen=120.5`); null if there is none. */
  readonly numbers: string | null
  /** 1 if a rule of the group hides it. */
  readonly hidden: number
}

/** What a record is stored with, from which the rest follows. */
export type StoredRecord = Omit<FilteredRecord, 'words' | 'hidden'>

/** Whether a rule hides a record. */
export type Hides = (record: FilteredRecord) => boolean

const HIDES_NOTHING: Hides = () => false

/** Adds what follows from a record. Few filters ask for it. */
export function withDerived<Row extends StoredRecord>(
  row: Row,
  split: SplitName,
  hides: Hides,
): Row & FilteredRecord {
  return {
    ...row,
    get words() {
      return toColumn(split(row.name))
    },
    get hidden() {
      return Number(hides(this))
    },
  }
}

/** A small whole number that is known of every record. The index computes it when the record enters. */
export interface RecordTrait extends Trait {
  readonly of: (record: FilteredRecord) => number
}

/** A trait that a record has (1) or has not (0). */
export function mark(has: (record: FilteredRecord) => boolean): RecordTrait {
  return { max: 1, of: (record) => Number(has(record)) }
}

/** A trait from 0 to `max`; larger numbers count as `max`. */
export function number(max: number, of: (record: FilteredRecord) => number): RecordTrait {
  return { max, of: (record) => Math.min(max, of(record)) }
}

/** Those that records are shown with. */
export const BOUGHT = mark(({ status }) => status === 1)
export const RESERVED = mark(({ reserved }) => reserved === 1)
export const REVISION = mark(({ revision }) => revision === 1)
export const DISCARDED = mark(({ discarded_at }) => discarded_at !== null)

/** Whether `date_reg` is its registration. */
export const DATED = mark(({ date_reg_known }) => date_reg_known === 1)

/** Returns how often the name became free since it was first recorded. */
export const getDrops = ({ past_drops, status }: Pick<FilteredRecord, 'past_drops' | 'status'>): number =>
  past_drops + 1 - status
export const DROPS = number(MAX_DROPS, getDrops)

/** A record as stored in a change. */
export interface ChangedRecord extends FilteredRecord {
  readonly note: string | null
}

/** Returns the record whose columns these fields hold. */
export function changedRecord(
  name: string,
  fields: Fields,
  split: SplitName,
  hides = HIDES_NOTHING,
): ChangedRecord {
  const { agent, status, reserved, revision, discarded_at = null, date_reg, date_mod } = fields
  const { released_at = null, seen_at = null, note = null, tags = null } = fields
  const { date_reg_known, past_drops, status_at = null, numbers = null } = fields
  const record = {
    name,
    agent: String(agent),
    status: Number(status),
    reserved: Number(reserved),
    revision: Number(revision),
    discarded_at: discarded_at === null ? null : Number(discarded_at),
    date_reg: String(date_reg),
    date_reg_known: date_reg_known === 0 ? 0 : 1,
    date_mod: String(date_mod),
    deleted_at: status === 0 ? String(released_at ?? date_reg) : null,
    past_drops: Number(past_drops ?? 0),
    status_at: status_at === null ? null : String(status_at),
    seen_at: seen_at === null ? null : Number(seen_at),
    note: note === null ? null : String(note),
    tags: tags === null ? null : String(tags),
    numbers: numbers === null ? null : String(numbers),
  }
  return withDerived(record, split, hides)
}

/** Signals of a record that follow from its own dates. Dates are local texts (`YYYY-MM-DD HH:MM:SS`). */

/** How long the registry takes objections to a registration. */
export const OBJECTION_DAYS = 30
const SECOND_MS = 1_000
export const DAY_MS = 86_400 * SECOND_MS
const LAST_MS = Date.parse('9999-12-31T23:59:59Z')

type Dates = Pick<FilteredRecord, 'status' | 'date_reg' | 'date_reg_known' | 'deleted_at'>

/** Returns the whole years from the registration to the deletion, or to now while it is bought; null if the registration is unknown. */
export function getAge({ date_reg, date_reg_known, deleted_at }: Dates, localNow: string): number | null {
  if (date_reg_known === 0) return null
  return wholeYears(parseTimestamp(date_reg), parseTimestamp(deleted_at ?? localNow))
}

/** Returns when the time for an objection ends; null if it has ended, or the name is free or of unknown registration. */
export function objectionEnd(record: Dates, localNow: string): string | null {
  return canObject(record, objectionsSince(localNow)) ? later(record.date_reg, OBJECTION_DAYS * DAY_MS) : null
}

/** Returns the earliest registration to which one can still object. */
export const objectionsSince = (localNow: string): string =>
  later(localNow, SECOND_MS - OBJECTION_DAYS * DAY_MS)

export const canObject = ({ status, date_reg, date_reg_known }: Dates, since: string): boolean =>
  status === 1 && date_reg_known === 1 && date_reg >= since

/** Returns a local time plus a duration. A day has 24 hours, whatever the clocks do in between. */
export function later(dateTime: string, ms: number): string {
  const shifted = Date.parse(`${dateTime.replace(' ', 'T')}Z`) + ms
  return new Date(Math.min(shifted, LAST_MS)).toISOString().slice(0, 19).replace('T', ' ')
}

/** What other records say of a name. */
export interface NameSignals {
  /** Returns the smallest number of bought records with one of these words; null if none of the words counts. */
  readonly getDemand: (words: readonly string[]) => number | null
  /** Returns which records can have a demand of this number or more; all by default. */
  readonly inDemand?: (wanted: number) => Candidates
  /** Whether a bought record has a twin of this name, which is in Latin-1. */
  readonly hasBoughtTwin: (name: Uint8Array, now: number) => boolean
  readonly firstTwins: (name: Uint8Array, now: number) => readonly string[]
}

/** What filters and fields look at besides the record: the time, and other records. */
export class FilterContext {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly #timeZone: string
  readonly #signals: NameSignals
  /** The names that are twins of each other have the same list. */
  readonly #twins = new Map<string, readonly string[]>()

  constructor(now: number, timeZone: string, signals: NameSignals) {
    this.now = now
    this.#timeZone = timeZone
    this.#signals = signals
  }

  /** Now in the time zone of the service, like the dates of records. Few filters ask for it. */
  get localNow(): string {
    return localDateTime(this.now, this.#timeZone)
  }

  getDemand(words: readonly string[]): number | null {
    return this.#signals.getDemand(words)
  }

  inDemand(wanted: number): Candidates | undefined {
    return this.#signals.inDemand?.(wanted)
  }

  /** @param name in Latin-1 */
  hasBoughtTwin(name: Uint8Array): boolean {
    return this.#signals.hasBoughtTwin(name, this.now)
  }

  getTwins(name: string): readonly string[] {
    const bytes = Buffer.from(name, 'latin1')
    const key = twinKey(bytes)
    let first = this.#twins.get(key)
    if (first === undefined) this.#twins.set(key, (first = this.#signals.firstTwins(bytes, this.now)))
    return first.filter((other) => other !== name).slice(0, MAX_TWINS)
  }
}

/** Twins in the field of a record. */
export const MAX_TWINS = 10

export type ContextAt = (now: number) => FilterContext
