import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callApi } from '../api/client.ts'
import { useStore } from '../app/store.ts'
import { patches } from './optimistic-updates.ts'

const FRESH_MS = 5 * 60_000
/** Tags are put on records that someone decides on, so these have most of those in use. */
const LOOKED_AT = [
  { seen: 1, order: 'modified', limit: 500 },
  { revision: 1, order: 'modified', limit: 500 },
  { order: 'modified', limit: 200 },
] as const

/** Tags of the records that changed last, the most frequent first, and those that were set here. */
export function useUsedTags(isWanted: boolean): readonly string[] {
  const { data } = useQuery({
    queryKey: ['tags'],
    enabled: isWanted,
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const tagsOf = new Map<string, readonly string[]>()
      for (const query of LOOKED_AT) {
        const { data: page } = await callApi('GET /api/v1/domainwatch/list', {
          query: { ...query, fields: 'tags' },
          signal,
        })
        for (const { name, tags = [] } of page.data[0] ?? []) tagsOf.set(name, tags)
      }
      const counts = Map.groupBy([...tagsOf.values()].flat(), (tag) => tag)
      return [...counts].toSorted(([, one], [, other]) => other.length - one.length).map(([tag]) => tag)
    },
  })
  const own = useStore(patches)
  return useMemo(() => {
    if (!isWanted) return []
    return [...new Set([...(data ?? []), ...[...own.values()].flatMap(({ tags = [] }) => tags)])]
  }, [data, own, isWanted])
}
