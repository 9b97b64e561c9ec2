import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callApi } from '../../api/client.ts'
import { useStore } from '../../base/store.ts'
import { patches } from './optimistic-updates.ts'

const FRESH_MS = 5 * 60_000
const MAX_TAGS = 1_000

/** The tags in use, the most frequent first, and those that were set here. */
export function useUsedTags(isWanted: boolean): readonly string[] {
  const { data } = useQuery({
    queryKey: ['tags'],
    enabled: isWanted,
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const query = { tags: MAX_TAGS, agents: 1 }
      return (await callApi('GET /api/v1/domainwatch/stats', { query, signal })).data.tags?.tag ?? []
    },
  })
  const own = useStore(patches)
  return useMemo(() => {
    if (!isWanted) return []
    return [...new Set([...(data ?? []), ...[...own.values()].flatMap(({ tags = [] }) => tags)])]
  }, [data, own, isWanted])
}
