import { useQuery } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { ask } from '../api/client.ts'
import { usePlace } from '../app/router.ts'
import { createSlots } from '../app/slots.ts'
import { useStore } from '../app/store.ts'
import { Icon } from '../design/icon.tsx'
import { Link } from '../design/parts.tsx'
import { filtersOf, recordFilters, type Filters } from '../domains/filters.ts'
import { filterFault } from '../facets/filter-fault.ts'
import { count, t, tn } from '../i18n/index.ts'
import { addressOf, filtersOfView, savedViews, visitView, type SavedView } from './saved-views.ts'
import './views.css'

/** Counting is work for the service, and nobody waits for these counts. */
const slots = createSlots(2)
const FRESH_MS = 60_000
const RECOUNT_MS = 120_000

/** The saved views of the account, each with its records and what is new in it since it was last open. */
export default function SideViews() {
  const { views } = useStore(savedViews)
  const { path, query } = usePlace()
  const here = path === 'dominios' ? addressOf(filtersOf(query)) : undefined
  useEffect(() => {
    if (here === undefined) return
    visitView(here)
    return () => visitView(here)
  }, [here])
  if (views.length === 0) return null
  return (
    <div className="side-group">
      <h2>{t('views.title')}</h2>
      <ul>
        {views.map((view) => (
          <li key={view.query}>
            <ViewLink view={view} isHere={view.query === here} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function ViewLink({ view, isHere }: { view: SavedView; isHere: boolean }) {
  const filters = recordFilters(filtersOfView(view))
  const all = useCount(filters, true)
  const since = { ...filters, modified_from: later(filters['modified_from'], view.visited) }
  const fresh = useCount(since, !isHere)
  return (
    <Link to="dominios" query={new URLSearchParams(view.query)} className="side-link" current={isHere}>
      <Icon name="layers" />
      <span className="view-name">{view.name}</span>
      <span className="grow" />
      {!isHere && fresh !== undefined && fresh > 0 && (
        <span className="view-new figures">
          <span aria-hidden="true">+{count(fresh)}</span>
          <span className="visually-hidden">{tn('views.new', fresh)}</span>
        </span>
      )}
      {all !== undefined && <span className="muted figures">{count(all)}</span>}
    </Link>
  )
}

const later = (one: string | undefined, other: string) => (one !== undefined && one > other ? one : other)

function useCount(filters: Filters, isWanted: boolean): number | undefined {
  const isVisible = useSyncExternalStore(whenShownOrHidden, () => document.visibilityState === 'visible')
  const { data } = useQuery({
    queryKey: ['domains', 'stats', 'view', filters],
    enabled: isWanted && isVisible && filterFault(filters) === undefined,
    staleTime: FRESH_MS,
    refetchInterval: RECOUNT_MS,
    queryFn: ({ signal }) =>
      slots.run(async () => {
        const { data: stats } = await ask('GET /api/v1/domainwatch/stats', { query: filters, signal })
        return stats.totals.records
      }),
  })
  return data
}

function whenShownOrHidden(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
