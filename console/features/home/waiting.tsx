import { useQueries, useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { useApi } from '../../api/query-client.ts'
import { useAccounts } from '../../api/scope.ts'
import { Button, Icon, Link } from '../../design/elements.tsx'
import { Tile } from '../../design/tile.tsx'
import { useStats } from '../filters/filter-counts.ts'
import { queryOf, withFilters } from '../filters/filters.ts'
import { type SavedView, useViews, filtersSinceVisit, viewCounts } from '../views/saved-views.ts'
import { visitAllViews } from '../views/visits.ts'
import { count, dateTime, t, tn } from '../../i18n/index.ts'
import '../../i18n/texts/home.ts'

/** Names that came free and that nobody has decided about: what triage begins with. */
const UNSEEN = { status: '0', seen: '0', revision: '0', discarded: '0' }
const FRESH_MS = 60_000

/** What waits for the person: names to decide about and watches that fail. Leaves when nothing does. */
export function Waiting() {
  const { data: stats } = useStats(UNSEEN)
  const { data: failing = 0 } = useQuery({
    queryKey: ['domains', 'watches', 'failing'],
    staleTime: FRESH_MS,
    queryFn: async ({ signal }) => {
      const { data } = await callApi('GET /api/v1/domainwatch/watches', { signal })
      return data.data.filter(({ state, paused, last_error, pending }) => {
        return state === 'dead' || (paused === 0 && last_error !== null && pending > 0)
      }).length
    },
  })
  const unseen = stats?.totals.records ?? 0
  if (unseen === 0 && failing === 0) return null
  return (
    <section className="stack waiting" aria-label={t('home.waiting')}>
      <h2>{t('home.waiting')}</h2>
      <ul className="tiles">
        {unseen > 0 && <Tile label="home.unseen" value={count(unseen)} to="dominios" query={UNSEEN} />}
        {failing > 0 && <Tile label="home.failing" value={count(failing)} to="vigilancias" />}
      </ul>
    </section>
  )
}

/** What came since a view was last open, and nobody has decided on. A view that asks for decided names keeps asking for them. */
const getNews = (view: SavedView) => ({ seen: '0', ...filtersSinceVisit(view) })

/** Names that came or became free since the person last looked, in all and in each saved view. Leaves when there are none. */
export function News() {
  const { views, all } = useViews()
  const looked = all === undefined ? [] : [all, ...views]
  const counts = useQueries({ queries: looked.map((view) => viewCounts(getNews(view))) })
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
          <li key={view.id}>
            <Link to="dominios" query={new URLSearchParams(view.query)} className="plain-link ellipsis">
              {view.query === '' ? t('home.allNames') : view.name}
            </Link>
            <Count view={view} status="1" n={bought} />
            <Count view={view} status="0" n={deleted} />
            <span className="muted">
              {t('home.since')} <time className="figures">{dateTime(view.visited)}</time>
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
      query={queryOf(withFilters(getNews(view), { status }))}
      className={status === '0' ? 'plain-link tag free' : 'plain-link tag'}
    >
      {tn(status === '0' ? 'home.freed' : 'home.came', n)}
    </Link>
  )
}

const ASK_EVERY_MS = 15_000

/** Who else has claimed names, how many, and until when. Leaves when nobody has. */
export function Colleagues() {
  const own = useAccounts()('domainwatch')
  const { data = [] } = useApi(['claims', 'holders'], 'GET /api/v1/domainwatch/queue', {
    refetchInterval: ASK_EVERY_MS,
    select: ({ data }) => data,
  })
  const others = data.filter(({ account }) => account !== own)
  // Until the account of this key is known, anyone may be a colleague.
  if (own === undefined || others.length === 0) return null
  return (
    <section className="stack" aria-labelledby="home-colleagues">
      <h2 id="home-colleagues">{t('home.colleagues')}</h2>
      <ul className="home-names">
        {others.map(({ account, count, until }) => (
          <li key={account}>
            <Icon name="person" />
            <strong className="holder">{account}</strong>
            <span className="figures">{tn('home.holds', count)}</span>
            <span className="muted">
              {t('home.until')}{' '}
              <time className="mono">{until.slice('YYYY-MM-DD '.length, -':SS'.length)}</time>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
