import { useQuery } from '@tanstack/react-query'
import { useRef, useSyncExternalStore } from 'react'
import { streamApi } from '../../api/client.ts'
import { DISCARDED_RETENTION_DAYS } from '../../base/constants.ts'
import { serverNow } from '../../base/server.ts'
import { useStore } from '../../base/store.ts'
import { t } from '../../i18n/index.ts'
import { patches } from './optimistic-updates.ts'
import { linesOf } from './records.ts'

const RETENTION_MS = DISCARDED_RETENTION_DAYS * 24 * 60 * 60_000

export interface TimeLeft {
  readonly days: number
  readonly hours: number
  readonly minutes: number
}

/** The time until a record discarded at that time deletes itself. */
function timeLeftOf(discardedAt: number, now: number): TimeLeft {
  const minutes = Math.max(0, Math.ceil((discardedAt + RETENTION_MS - now) / 60_000))
  return { days: Math.floor(minutes / 1_440), hours: Math.floor(minutes / 60) % 24, minutes: minutes % 60 }
}

/** `6 d 23 h`, `23 h 5 min`, `5 min`. */
export function timeLeftText({ days, hours, minutes }: TimeLeft): string {
  if (days > 0) return t('left.days', { d: days, h: hours })
  return hours > 0 ? t('left.hours', { h: hours, m: minutes }) : t('left.minutes', { m: minutes })
}

/** Maximum number of cached names. */
const MAX_NAMES = 20_000
const FRESH_MS = 60_000
/**
 * Delay before times are requested again if a visible one is missing, because someone has just marked it or the
 * response was lost. Doubles each time.
 */
const AGAIN_MS = 2_000
/** A name missing from this many answers is not requested again: it was restored, or is beyond `MAX_NAMES`. */
const MAX_TRIES = 6

/** When discarded records were marked. Lists do not contain it, but exports do. */
function useDiscardedTimes(names: readonly string[]): ReadonlyMap<string, number> | undefined {
  const tries = useRef<ReadonlyMap<string, number>>(new Map())
  const { data } = useQuery({
    queryKey: ['domains', 'discarded'],
    enabled: names.length > 0,
    staleTime: FRESH_MS,
    queryFn: ({ signal }) => {
      tries.current = new Map(names.map((name) => [name, (tries.current.get(name) ?? 0) + 1]))
      return readTimes(signal)
    },
    refetchInterval: ({ state }) => {
      const missing = names.filter((name) => state.data?.has(name) !== true)
      const tried = Math.min(...missing.map((name) => tries.current.get(name) ?? 0))
      return tried < MAX_TRIES ? AGAIN_MS * 2 ** Math.max(0, tried - 1) : false
    },
  })
  return data
}

async function readTimes(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>()
  const response = await streamApi('/api/v1/domainwatch/export', { dis: '', format: 'ndjson' }, signal)
  for await (const line of linesOf(response)) {
    const { name, discarded_at: at } = JSON.parse(line)
    times.set(String(name), Date.parse(String(at)))
    if (times.size >= MAX_NAMES) break
  }
  return times
}

/** Returns the remaining time of discarded records by name; undefined if unknown. */
export function useTimeLeft(names: readonly string[]): (name: string) => TimeLeft | undefined {
  const own = useStore(patches)
  const times = useDiscardedTimes(names.filter((name) => own.get(name)?.discardedAt === undefined))
  useSyncExternalStore(eachMinute, minuteNow)
  return (name) => {
    const at = own.get(name)?.discardedAt ?? times?.get(name)
    return at === undefined || Number.isNaN(at) ? undefined : timeLeftOf(at, serverNow())
  }
}

const minuteNow = (): number => Math.floor(Date.now() / 60_000)

function eachMinute(listener: () => void): () => void {
  const timer = setInterval(listener, 60_000)
  return () => clearInterval(timer)
}
