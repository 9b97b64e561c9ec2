import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { useRoute } from '../../base/router.ts'
import { Icon, Link } from '../../design/elements.tsx'
import { toFilters, recordFilters, type Filters } from '../filters/filters.ts'
import { count, t, tn } from '../../i18n/index.ts'
import {
  viewCounts,
  filtersSinceVisit,
  viewQuery,
  filtersOfView,
  useViews,
  type SavedView,
} from './saved-views.ts'

/** The saved views of the account and of the group, each with its count and the number of new records since it was last opened. */
export default function SideViews() {
  const { views } = useViews()
  const { path, query } = useRoute()
  const here = path === 'dominios' ? viewQuery(toFilters(query)) : undefined
  return (
    <div className="side-group">
      <h2>{t('views.title')}</h2>
      <ul>
        {views.map((view) => (
          <li key={view.id}>
            <ViewLink view={view} isHere={view.query === here} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function ViewLink({ view, isHere }: { view: SavedView; isHere: boolean }) {
  const all = useCount(recordFilters(filtersOfView(view)), true)
  const fresh = useCount(filtersSinceVisit(view), !isHere)
  return (
    <Link to="dominios" query={new URLSearchParams(view.query)} className="side-link" current={isHere}>
      <Icon name="layers" />
      <span className="ellipsis">{view.name}</span>
      {view.sharedBy !== undefined && (
        <span className="view-owner muted ellipsis">{t('views.by', { owner: view.sharedBy })}</span>
      )}
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

function useCount(filters: Filters, isWanted: boolean): number | undefined {
  const isVisible = useSyncExternalStore(whenShownOrHidden, () => document.visibilityState === 'visible')
  return useQuery(viewCounts(filters, isWanted && isVisible)).data?.records
}

function whenShownOrHidden(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
