import { useQuery } from '@tanstack/react-query'
import { useRef, useSyncExternalStore } from 'react'
import { askStream } from '../api/client.ts'
import { serverNow } from '../api/server.ts'
import { useStore } from '../app/store.ts'
import { patches } from './overlay.ts'
import { leftOf, type Left } from './records.ts'
import { linesOf } from './lines.ts'

/** Discarded names that are kept here. */
const MAX_NAMES = 20_000
const FRESH_MS = 60_000
/**
 * Until all are asked for again where one in sight is missing, because somebody else has just marked it or the answer was
 * lost; twice as long after each time.
 */
const AGAIN_MS = 2_000
/** A name that so many answers left out is not there: it was taken back meanwhile, or is beyond `MAX_NAMES`. */
const MAX_TRIES = 6

/** When each discarded record was marked, as far as these names need it: the list does not tell, the export does. */
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
  const response = await askStream('/api/v1/domainwatch/export', { dis: '', format: 'ndjson' }, signal)
  for await (const line of linesOf(response)) {
    const { name, discarded_at: at } = JSON.parse(line)
    times.set(String(name), Date.parse(String(at)))
    if (times.size >= MAX_NAMES) break
  }
  return times
}

/** The time left of these discarded records by name; undefined where it is not known. */
export function useTimeLeft(names: readonly string[]): (name: string) => Left | undefined {
  const own = useStore(patches)
  const times = useDiscardedTimes(names.filter((name) => own.get(name)?.discardedAt === undefined))
  useSyncExternalStore(eachMinute, minuteNow)
  return (name) => {
    const at = own.get(name)?.discardedAt ?? times?.get(name)
    return at === undefined || Number.isNaN(at) ? undefined : leftOf(at, serverNow())
  }
}

const minuteNow = (): number => Math.floor(Date.now() / 60_000)

function eachMinute(listener: () => void): () => void {
  const timer = setInterval(listener, 60_000)
  return () => clearInterval(timer)
}
