/**
 * What the lists of the registry say about names, without storage. A list of registrations says when names were registered. A
 * list of deletions is a sliding window without dates: each of its names was deleted at some time in the window, perhaps several
 * times, and may have been registered since. Where lists cannot decide between registered and free, a name is registered.
 *
 * Times of lists are milliseconds since 1970. Times of records are local texts (`YYYY-MM-DD HH:MM:SS`), which compare as
 * strings; of an hour that the clocks repeat, the reading is chosen that leaves a name registered.
 */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The time that a list of deletions covers. */
export const WINDOWS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS, month: 31 * DAY_MS } as const
export type Window = keyof typeof WINDOWS
export const WINDOW_NAMES: readonly Window[] = ['hour', 'day', 'week', 'month']
export const DEFAULT_WINDOW: Window = 'month'

/** Maximum age of a list when it is fetched. */
const WRITTEN_BEFORE_MS = HOUR_MS
/** How much longer than its window a list may cover. */
const LISTED_BEYOND_MS = DAY_MS
/** Names of the last complete list from which an empty one is a fault of the server. */
const MANY_NAMES = 10

/** A name in a list, as import buffers hold it. */
export type ListedRow = readonly [
  name: string,
  ascii: string | null,
  length: number,
  words: string | null,
  /** Its registration, somewhere between two times; null in lists of deletions, and if it is unknown. */
  from: string | null,
  to: string | null,
  /** When it was deleted, in exports of free records. */
  deletedAt: string | null,
]

/** What a list has: names without dates, or dates of registrations and deletions. */
export type ListKind = 'deletions' | 'registrations'

/** What is stored of a source: a feed, or what an account imports under one name. */
export interface SourceState {
  /** Time and digest of the last list. */
  readonly listed_at: number | null
  readonly digest: string | null
  /** Time and number of names of the last complete list. */
  readonly complete_at: number | null
  readonly names: number | null
}

export interface ListHead {
  /** When its fetch or upload began. */
  readonly at: number
  /** Digest of the content of the list. */
  readonly digest: string
  /** Whether the caller vouches for it although it has few names. */
  readonly isForced: boolean
}

/** Why a list changes nothing: its source has one that is not older, or that is the same. */
export type Skipped = 'older' | 'identical'

/** Whether a time can be believed. One in the future was stored before the clock was set back. */
const isPast = (at: number | null, now: number): at is number => at !== null && at <= now

export function skipReason(source: SourceState, list: ListHead, now: number): Skipped | undefined {
  if (!isPast(source.listed_at, now)) return undefined
  if (list.at <= source.listed_at) return 'older'
  const wasIncomplete = source.complete_at !== source.listed_at
  return list.digest === source.digest && !(list.isForced && wasIncomplete) ? 'identical' : undefined
}

/** Returns the time of the last complete list before another. Null if there is none. */
export function lastComplete({ complete_at }: SourceState, at: number): number | null {
  return isPast(complete_at, at) ? complete_at : null
}

/** Whether names may have come and gone between the last complete list and this one. */
export function isGap(completeAt: number | null, at: number, window: Window): boolean {
  return completeAt !== null && completeAt < at - WINDOWS[window]
}

/** Whether a list has so few names that it may be a part: the absence of a name from it means nothing. */
export function isShrunken(source: SourceState, names: number): boolean {
  return names < (source.names ?? 0) / 2
}

/** Whether an empty list is a fault of its server. */
export function isImplausiblyEmpty(source: SourceState, names: number): boolean {
  return names === 0 && (source.names ?? 0) >= MANY_NAMES
}

/**
 * Returns the earliest time at which a name in a list of deletions was last deleted. The name is in the list because of a deletion
 * between then and the time of the list.
 * @param known the same by the list before; undefined if that lacked the name
 * @param completeAt time of the last complete list
 */
export function earliestDeletion(
  known: number | undefined,
  at: number,
  completeAt: number | null,
  window: Window,
): number {
  const absentUntil = completeAt === null ? -Infinity : completeAt - WRITTEN_BEFORE_MS
  return Math.max(known ?? absentUntil, at - WINDOWS[window] - LISTED_BEYOND_MS)
}

/** What is known of a name's registration and deletion: columns of its record, or of a dismissed name. */
export interface Facts {
  readonly status: 0 | 1
  /** The registration; if it is unknown, the deletion. */
  readonly date_reg: string
  readonly date_reg_known: 0 | 1
  /** When the last deletion was known; null if there was none, or if the record was added as free at `date_reg`. */
  readonly released_at: string | null
  /** The earliest time of that deletion. A bought record stays bought unless it was deleted then or later. */
  readonly deleted_after: string | null
  /** Periods in which it was free before the present one. */
  readonly past_drops: number
}

/** A registration from a list: somewhere between two times, which are equal if the list has the time of day. */
export interface Registration {
  readonly from: string
  readonly to: string
}

/**
 * Returns the facts after a list of registrations, or undefined if it tells nothing new.
 * @param notBefore the earliest time of its last deletion; undefined if no list of deletions has it
 */
export function registered(
  known: Facts | undefined,
  { from, to }: Registration,
  notBefore: string | undefined,
): Facts | undefined {
  if (known === undefined) return { ...NEVER_DELETED, status: 1, date_reg: to, date_reg_known: 1 }
  const isNewer = from > known.date_reg
  const dated: Facts = { ...known, date_reg: to, date_reg_known: 1 }
  if (known.status === 1) return isNewer || known.date_reg_known === 0 ? dated : undefined
  const { deleted_after: deletedAfter } = known
  const isAfterDeletion = deletedAfter === null ? isNewer : to >= deletedAfter
  if (isAfterDeletion && to >= (notBefore ?? '')) {
    return { ...dated, status: 1, past_drops: known.past_drops + 1 }
  }
  return known.date_reg_known === 0 ? dated : undefined
}

/**
 * Returns the facts of a free record that lists of version 0.1.0 may have freed by mistake, because they stored no
 * `deleted_after`: any registration makes it bought. Undefined for all others.
 */
export function repaired(
  known: Facts,
  registration: Registration,
  notBefore: string | undefined,
): Facts | undefined {
  if (known.status === 1 || known.deleted_after !== null) return undefined
  const facts = registered({ ...known, deleted_after: '' }, registration, notBefore)
  return facts?.status === 1 ? { ...facts, deleted_after: null } : undefined
}

const NEVER_DELETED = { released_at: null, deleted_after: null, past_drops: 0 } as const

/**
 * Returns the facts after a list of deletions, or undefined if it tells nothing new.
 * @param notBefore the earliest time of the deletion
 * @param at the time of the list
 */
export function deleted(known: Facts | undefined, notBefore: string, at: string): Facts | undefined {
  const deletion = { status: 0, released_at: at, deleted_after: notBefore } as const
  if (known === undefined) return { ...deletion, date_reg: at, date_reg_known: 0, past_drops: 0 }
  const { status, date_reg, date_reg_known, released_at, deleted_after } = known
  const isUnknown = date_reg_known === 0
  if (status === 0) {
    if (notBefore < (released_at ?? date_reg)) return undefined
    return {
      ...known,
      ...deletion,
      date_reg: isUnknown ? at : date_reg,
      past_drops: known.past_drops + 1,
    }
  }
  if (notBefore < (deleted_after ?? '')) return undefined
  if (isUnknown || date_reg < notBefore) return { ...known, ...deletion, date_reg: isUnknown ? at : date_reg }
  // That of an earlier registration, which only the history shows.
  if (released_at !== null && notBefore < released_at) return undefined
  return { ...known, ...deletion, status: 1 }
}

/** What a change of facts means. */
export type News =
  /** It became free, perhaps once more. */
  | 'freed'
  /** It was registered, perhaps once more. */
  | 'registered'
  /** An unknown registration became known. */
  | 'dated'
  /** An earlier registration was deleted. */
  | 'earlier'

export function newsIn(known: Facts | undefined, facts: Facts): News {
  if (facts.status === 0) return facts.released_at === known?.released_at ? 'dated' : 'freed'
  if (known?.status !== 1) return 'registered'
  if (facts.released_at !== known.released_at) return 'earlier'
  return known.date_reg_known === 0 ? 'dated' : 'registered'
}

/** Whether news of a dismissed name are a newer fact than the one that was dismissed, so that it is recorded again. */
export const endsDismissal = (news: News): boolean => news === 'freed' || news === 'registered'
