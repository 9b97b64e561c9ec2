import { inBatches } from '../../lib/background-jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { Database } from '../../storage/database/database.ts'
import { parseSavedFilters } from '../filters.ts'
import { DAY_MS, later, OBJECTION_DAYS, objectionsSince } from '../filtered-record.ts'
import * as queries from './queries.ts'

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
