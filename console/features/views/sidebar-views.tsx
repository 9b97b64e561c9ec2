import { useQuery } from '@tanstack/react-query'
import { useRoute } from '../../base/router.ts'
import { Icon, Link } from '../../design/elements.tsx'
import { toFilters, recordFilters } from '../filters/filters.ts'
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
  const all = useQuery(viewCounts(recordFilters(filtersOfView(view)))).data?.records
  const fresh = useQuery(viewCounts(filtersSinceVisit(view), !isHere)).data?.records
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
