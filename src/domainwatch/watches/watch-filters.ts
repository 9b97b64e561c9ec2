import { languageOf } from '../texts.ts'
import { integer, compileParameters } from '../../http/parameters.ts'
import { concerns, recordIn, WATCH_CHOICES, type DomainEvent } from '../events/event.ts'
import { filterParameters, readFilters, parseSavedFilters } from '../filters.ts'
import { Brands, type Vocabulary } from '../../lib/lookalikes/index.ts'
import { brands, maxDistance } from '../lookalikes.ts'
import { OBJECTION_DAYS, DAY_MS, later, objectionsSince } from '../filtered-record.ts'
import type { NotifiedWatch } from './message.ts'
import type { WatchRow } from './queries.ts'
import type { DestinationState } from '../../deliveries/queries.ts'
import { inBatches } from '../../lib/concurrency.ts'
import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { Database } from '../../storage/database/database.ts'
import * as queries from './queries.ts'

/** What a watch may look for: names like one, too. */
export const watchFilters = {
  ...filterParameters,
  similar: brands,
  max_distance: maxDistance,
  dns: integer('Look the names up again regularly (1) or not (0)', 0, 1),
  remind: integer(
    'Days before the end of the time for objections at which matching names are reported once more; 0 for never',
    0,
    OBJECTION_DAYS - 1,
  ),
}

const parseWatchFilters = compileParameters(watchFilters)

/** Reads the filters of a watch. Returns undefined for those of another version that this one rejects. */
export function readSavedFilters(saved: string, vocabulary: Vocabulary) {
  const parsed = parseWatchFilters(parseSavedFilters(saved))
  if (!parsed.ok) return undefined
  const { dns, similar, max_distance: most, remind } = parsed.values
  const watched = similar === undefined ? undefined : new Brands(similar.split(','), vocabulary, most)
  return {
    filters: readFilters(parsed.values),
    /** Returns true for a name that resembles one of those that the watch is about, if it is about some. */
    resembles: (name: string) => watched === undefined || watched.find(name) !== undefined,
    /** Returns the name that one resembles most. */
    findBrand: (name: string) => watched?.find(name),
    looksUpDns: dns === 1,
    remind,
  }
}

/** Returns which events a watch looks for, and which brand a name resembles. */
export function readWatch(
  { filters, changes }: Pick<WatchRow, 'filters' | 'changes'>,
  vocabulary: Vocabulary,
) {
  const wanted = readSavedFilters(filters, vocabulary)
  // Better no events than all.
  if (wanted === undefined) return { isRelevant: () => false, findBrand: () => undefined }
  // A watch of a newer version may ask for changes that this one does not know.
  const choice = WATCH_CHOICES.find((one) => one === changes) ?? 'all'
  const { hidden } = wanted.filters
  // What the group hides is news only for a watch that asks for it. A record that was just hidden does not say so.
  const shown = { ...wanted.filters, hidden: hidden ?? 0 }
  const isRelevant = (event: DomainEvent) => {
    const record = recordIn(event)
    if (record === null || (hidden === undefined && record.hidden === 1)) return false
    return concerns(choice, shown, event, wanted.remind) && wanted.resembles(record.name)
  }
  return { isRelevant, findBrand: wanted.findBrand }
}

/** Reads what messages show of a watch. */
export function notifiedWatch({ watch_id: id, name, filters, language }: DestinationState): NotifiedWatch {
  return { id, name, filters: parseSavedFilters(filters), language: languageOf(language) }
}

/** Records per transaction, so that other writers get their turn. */
const BATCH = 2_000

/** Returns how many days before the end of the time for objections a watch reminds; 0 for never. */
export const remindedDays = ({ filters }: { readonly filters: string }): number =>
  Number(parseSavedFilters(filters)['remind'] ?? 0)

/** Returns the latest registration of which it is time to remind. */
export const registeredUntil = (days: number, localNow: string): string =>
  later(localNow, (days - OBJECTION_DAYS) * DAY_MS)

function spanOf(days: number, localNow: string) {
  return { since: objectionsSince(localNow), until: registeredUntil(days, localNow) }
}

export async function hasToRemind(database: Database, clock: Clock, timeZone: string): Promise<boolean> {
  const localNow = localDateTime(clock.now(), timeZone)
  for (const state of await database.all(queries.allReminders())) {
    const due = queries.dueRecords(state, spanOf(state.days, localNow), 1)
    if ((await database.first(due)) !== undefined) return true
  }
  return false
}

/** Adds a change to the log for each record whose time for objections ends in as many days as a watch asks for, once each. */
export async function remindOfObjections(
  database: Database,
  clock: Clock,
  timeZone: string,
  signal: AbortSignal,
): Promise<void> {
  const wanted = new Set((await database.all(queries.remindingFilters())).map(remindedDays))
  for (const { days } of await database.all(queries.allReminders())) {
    if (wanted.has(days)) await inBatches(BATCH, signal, () => remindOfSome(database, clock, timeZone, days))
    else await database.transaction((tx) => tx.run(queries.endReminders(days)))
  }
}

/** @returns the number of records that were looked at */
function remindOfSome(database: Database, clock: Clock, timeZone: string, days: number): Promise<number> {
  const { dialect } = database
  return database.transaction(async (tx) => {
    const now = clock.now()
    const state = await tx.first(queries.reminderState(days, dialect.forUpdate))
    if (state === undefined) return 0
    const span = spanOf(days, localDateTime(now, timeZone))
    const due = await tx.all(queries.dueRecords(state, span, BATCH))
    const last = due.at(-1)
    if (last === undefined) return 0
    const names = due.filter((record) => wasKnownBefore(record, days)).map(({ name }) => name)
    if (names.length > 0) await tx.run(queries.insertReminders(dialect, days, names, now))
    await tx.run(queries.advanceReminders({ days, last_date: last.date_reg, last_name: last.name }))
    return due.length
  })
}

/** A name that arrives after the time of its reminder is news already. */
const wasKnownBefore = ({ date_reg, status_at }: queries.DueRecord, days: number): boolean =>
  status_at === null || status_at < later(date_reg, (OBJECTION_DAYS - days) * DAY_MS)
