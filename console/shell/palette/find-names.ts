import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { MAX_LABEL_CHARACTERS } from '../../base/constants.ts'
import { callApi } from '../../api/client.ts'
import { session } from '../../api/session.ts'
import { useStore } from '../../base/store.ts'
import { bareName } from '../../features/domains/bare-name.ts'
import type { DomainRecord } from '../../features/domains/records.ts'
import { useDebounced } from '../../base/debounce.ts'

const TYPED_MS = 180
const SHOWN = 8
const MIN_LETTERS = 2
const FRESH_MS = 30_000

/**
 * Recorded names that contain the typed text, an exact match first. Debounced; a request for an older text is
 * cancelled, and its names are shown only if they match the new text, too.
 */
export function useNames(text: string) {
  const hasKey = useStore(session).domainwatch !== undefined
  const name = bareName(text)
  const settled = useDebounced(name, TYPED_MS)
  const isWanted = hasKey && name.length >= MIN_LETTERS && !/\s/.test(name)
  const { data, error, isFetching } = useQuery({
    queryKey: ['domains', 'palette', settled],
    enabled: isWanted && settled === name,
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => findNames(settled ?? '', signal),
  })
  if (!isWanted) return { names: [], error: null, isAsking: false }
  const names = (data ?? [])
    .filter((record) => record.name.includes(name))
    .toSorted((one, other) => Number(other.name === name) - Number(one.name === name))
  return { names, error, isAsking: settled !== name || isFetching }
}

async function findNames(name: string, signal: AbortSignal): Promise<readonly DomainRecord[]> {
  const [same, containing] = await Promise.all([
    callApi('GET /api/v1/domainwatch/list', {
      query: { search: name, length: Math.min(MAX_LABEL_CHARACTERS, [...name].length), limit: 1 },
      signal,
    }),
    callApi('GET /api/v1/domainwatch/list', { query: { search: name, limit: SHOWN }, signal }),
  ])
  const all = [...(same.data.data[0] ?? []), ...(containing.data.data[0] ?? [])]
  return [...new Map(all.map((record) => [record.name, record])).values()].slice(0, SHOWN)
}
