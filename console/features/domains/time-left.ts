import { useSyncExternalStore } from 'react'
import { DISCARDED_RETENTION_DAYS } from '../../base/constants.ts'
import { toEpoch, serverNow } from '../../base/server.ts'
import { useStore } from '../../base/store.ts'
import { t } from '../../i18n/index.ts'
import { patches } from './optimistic-updates.ts'
import type { DomainRecord } from './records.ts'

const DAY_MS = 24 * 60 * 60_000
const RETENTION_MS = DISCARDED_RETENTION_DAYS * DAY_MS

export interface TimeLeft {
  readonly days: number
  readonly hours: number
  readonly minutes: number
}

/** The time until a record discarded at that time deletes itself. */
function getTimeLeft(discardedAt: number, now: number): TimeLeft {
  const minutes = Math.max(0, Math.ceil((discardedAt + RETENTION_MS - now) / 60_000))
  return { days: Math.floor(minutes / 1_440), hours: Math.floor(minutes / 60) % 24, minutes: minutes % 60 }
}

/** `6 d 23 h`, `23 h 5 min`, `5 min`. */
export function timeLeftText({ days, hours, minutes }: TimeLeft): string {
  if (days > 0) return t('left.days', { d: days, h: hours })
  return hours > 0 ? t('left.hours', { h: hours, m: minutes }) : t('left.minutes', { m: minutes })
}

/** Returns the days left, today included, to object to the registration of a record; undefined if there are none. */
export function objectionDays({ status, object_until: end }: DomainRecord): number | undefined {
  // A change that has just come from someone else may have freed the name.
  if (status === 0 || typeof end !== 'string') return undefined
  const days = Math.ceil((toEpoch(end) - serverNow()) / DAY_MS)
  return days > 0 ? days : undefined
}

/** Returns the remaining time of discarded records, which follows the clock; undefined for others. */
export function useTimeLeft(): (record: DomainRecord | undefined) => TimeLeft | undefined {
  const own = useStore(patches)
  useSyncExternalStore(eachMinute, minuteNow)
  return (record) => {
    if (record?.discarded !== 1) return undefined
    // A change that has just come from someone else lacks the time: it is the last one.
    const at = own.get(record.name)?.discardedAt ?? toEpoch(record.discarded_at ?? record.date_mod)
    return getTimeLeft(at, serverNow())
  }
}

const minuteNow = (): number => Math.floor(Date.now() / 60_000)

function eachMinute(listener: () => void): () => void {
  const timer = setInterval(listener, 60_000)
  return () => clearInterval(timer)
}
