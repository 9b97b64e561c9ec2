import { inBatches } from '../../lib/background-jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { announce, anyToAnnounce, serviceTimeZone, setServiceTimeZone } from './queries.ts'

/** Records announced per transaction, so that other writers get their turn. */
const BATCH = 2_000

/** Announces names that lists of deletions freed, once their account has read a list of registrations or 6 hours have passed. */
export function announceFreed(database: Database, clock: Clock, signal?: AbortSignal): Promise<number> {
  return inBatches(BATCH, signal, () => database.transaction((tx) => tx.run(announce(clock.now(), BATCH))))
}

export async function hasToAnnounce(database: Database, clock: Clock): Promise<boolean> {
  return (await database.first(anyToAnnounce(clock.now()))) !== undefined
}

/** Stores the time zone of records for commands, whose own setting may differ. */
export async function noteTimeZone(database: Database, timeZone: string): Promise<void> {
  if ((await database.first(serviceTimeZone()))?.time_zone === timeZone) return
  await database.transaction((tx) => tx.run(setServiceTimeZone(timeZone)))
}
