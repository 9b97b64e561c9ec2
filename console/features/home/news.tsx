import { useQueries } from '@tanstack/react-query'
import { useStore } from '../../base/store.ts'
import { Button } from '../../design/button.tsx'
import { Link } from '../../design/link.tsx'
import { queryOf, withFilters } from '../filters/filters.ts'
import { shortMoment, t, tn } from '../../i18n/index.ts'
import { viewCounts, filtersSinceVisit } from '../views/view-counts.ts'
import { savedViews, visitAllViews, type SavedView } from '../views/saved-views.ts'

/** What came since a view was last open, and nobody has decided on. A view that asks for decided names keeps asking for them. */
const newsOf = (view: SavedView) => ({ seen: '0', ...filtersSinceVisit(view) })

/** Names that came or became free since the person last looked, in all and in each saved view. Leaves when there are none. */
export function News() {
  const { views, all } = useStore(savedViews)
  const looked = all === undefined ? [] : [all, ...views]
  const counts = useQueries({ queries: looked.map((view) => viewCounts(newsOf(view))) })
  const news = looked.flatMap((view, i) => {
    const { bought = 0, deleted = 0 } = counts[i]?.data ?? {}
    return bought + deleted === 0 ? [] : [{ view, bought, deleted }]
  })
  if (news.length === 0) return null
  return (
    <section className="stack" aria-labelledby="home-news">
      <div className="row">
        <h2 id="home-news" className="grow">
          {t('home.news')}
        </h2>
        <Button look="quiet" icon="check" label={t('home.newsRead')} onClick={visitAllViews} />
      </div>
      <ul className="home-names home-news">
        {news.map(({ view, bought, deleted }) => (
          <li key={view.query}>
            <Link to="dominios" query={new URLSearchParams(view.query)}>
              {view.query === '' ? t('home.allNames') : view.name}
            </Link>
            <Count view={view} status="1" n={bought} />
            <Count view={view} status="0" n={deleted} />
            <span className="muted">
              {t('home.since')} <time className="figures">{shortMoment(view.visited)}</time>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Leads to the very names. */
function Count({ view, status, n }: { view: SavedView; status: '0' | '1'; n: number }) {
  if (n === 0) return null
  return (
    <Link
      to="dominios"
      query={queryOf(withFilters(newsOf(view), { status }))}
      className={status === '0' ? 'tag free' : 'tag'}
    >
      {tn(status === '0' ? 'home.freed' : 'home.came', n)}
    </Link>
  )
}
