import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { askStream } from '../api/client.ts'
import { serverNow } from '../api/server.ts'
import { useStore } from '../app/store.ts'
import { patches } from './marks.ts'
import { leftOf, type Left } from './records.ts'
import { linesOf } from './lines.ts'

/** Names that were discarded within seven days and are still remembered here. */
const MAX_NAMES = 20_000
const FRESH_MS = 60_000

/** When each discarded record was marked: the list does not tell, the export does. */
function useDiscardedTimes(isWanted: boolean): ReadonlyMap<string, number> | undefined {
  const { data } = useQuery({
    queryKey: ['domains', 'discarded'],
    enabled: isWanted,
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const times = new Map<string, number>()
      const response = await askStream('/api/v1/domainwatch/export', { dis: '', format: 'ndjson' }, signal)
      for await (const line of linesOf(response)) {
        const { name, discarded_at: at } = JSON.parse(line)
        times.set(String(name), Date.parse(String(at)))
        if (times.size >= MAX_NAMES) break
      }
      return times
    },
  })
  return data
}

/** The time left of discarded records by name; undefined where it is not known. */
export function useTimeLeft(isWanted: boolean): (name: string) => Left | undefined {
  const times = useDiscardedTimes(isWanted)
  const own = useStore(patches)
  const minute = useSyncExternalStore(eachMinute, () => Math.floor(Date.now() / 60_000))
  return (name) => {
    const at = own.get(name)?.discardedAt ?? times?.get(name)
    return at === undefined || Number.isNaN(at) || minute < 0 ? undefined : leftOf(at, serverNow())
  }
}

function eachMinute(listener: () => void): () => void {
  const timer = setInterval(listener, 60_000)
  return () => clearInterval(timer)
}
