import { type Query, useIsFetching, useQueryClient, useQueries } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useApi } from '../../api/query-client.ts'
import { session } from '../../api/session.ts'
import { useStore } from '../../base/store.ts'
import { Icon, Link, Time, Button } from '../../design/elements.tsx'
import { Bones, QueryError } from '../../design/notice.tsx'
import { Sparkline, Page, Tile, WideTable } from '../../design/page.tsx'
import { DomainName, StatusTag } from '../domains/tags.tsx'
import type { DomainRecord } from '../domains/records.ts'
import { useUsage } from '../images/gallery.tsx'
import { duration, bytes, count, dateTime, t, type TextKey, tn } from '../../i18n/index.ts'
import type { Feed, Watch } from '../../../clients/js/schema.ts'
import { useAccounts } from '../../api/scope.ts'
import { useStats } from '../filters/filter-counts.tsx'
import { queryOf, withFilters } from '../filters/filters.ts'
import {
  type SavedView,
  useViews,
  filtersSinceVisit,
  viewCounts,
  visitAllViews,
} from '../views/saved-views.ts'
import '../../i18n/texts/home.ts'
import './home.css'

const UNKNOWN = {
  predicate: ({ state }: Query) => state.status === 'pending' && state.fetchFailureCount === 0,
}

/** Whether all parts were fetched, or failed: parts that came one by one would move what is read or pressed already. */
function useIsComplete(): boolean {
  const queries = useQueryClient()
  const [isComplete, setComplete] = useState(false)
  const unknown = useIsFetching(UNKNOWN)
  useEffect(() => {
    if (queries.isFetching(UNKNOWN) === 0) setComplete(true)
  }, [queries, unknown])
  return isComplete
}

/** The home screen: an overview. */
export default function HomeScreen() {
  const isComplete = useIsComplete()
  return (
    <Page isWide title={t('nav.home')}>
      {!isComplete && <Bones rows={3} />}
      <div className="home" hidden={!isComplete}>
        <Parts />
      </div>
    </Page>
  )
}

function Parts() {
  const keys = useStore(session)
  return (
    <>
      {keys.domainwatch !== undefined && (
        <>
          <Waiting />
          <div className="home-lists home-group">
            <News />
            <Colleagues />
          </div>
        </>
      )}
      {keys.domainwatch !== undefined && <Domains />}
      {keys.imagestore !== undefined && <Images />}
      <FirstSteps hasDomains={keys.domainwatch !== undefined} hasImages={keys.imagestore !== undefined} />
    </>
  )
}

function Domains() {
  const query = useApi(['domains', 'stats', {}], 'GET /api/v1/domainwatch/stats')
  const { data } = query
  if (data === undefined) return <QueryError of={query} />
  const { totals, days } = data
  // The first steps say what to do; lists and figures of nothing would hide them.
  if (totals.records === 0) return <Feeds />
  const last = (values: readonly number[]) => values.slice(-7).reduce((sum, n) => sum + n, 0)
  return (
    <>
      <ul className="tiles">
        <Tile label="home.records" value={count(totals.records)} to="dominios" />
        <Tile label="home.registered" value={count(last(days.registered))} to="cifras">
          <Sparkline values={days.registered} />
        </Tile>
        <Tile label="home.deleted" value={count(last(days.deleted))} to="cifras">
          <Sparkline values={days.deleted} />
        </Tile>
        <Tile label="home.free" value={count(totals.deleted)} to="dominios" query={{ status: '0' }} />
        <Tile label="home.inReview" value={count(totals.revision)} to="dominios" query={{ rev: '' }} />
        <Tile label="home.discarded" value={count(totals.discarded)} to="dominios" query={{ dis: '' }} />
      </ul>
      <div className="home-lists">
        <Newest title="filter.lastRegister" query={{ last_register: '8' }} />
        <Newest
          title="filter.lastDeleted"
          query={{ last_deleted: '8' }}
          timeOf={({ deleted_at, date_mod }) => deleted_at ?? date_mod}
        />
        <Newest title="home.inReview" query={{ rev: '' }} />
      </div>
      <Feeds />
    </>
  )
}

const SHOWN = 8

interface NewestProps {
  readonly title: TextKey
  readonly query: Readonly<Record<string, string>>
  /** The date column of the list; by default that of registration. */
  readonly timeOf?: (record: DomainRecord) => string
}

function Newest({ title, query, timeOf = ({ date_reg }) => date_reg }: NewestProps) {
  const newest = useApi(['domains', 'home', query], 'GET /api/v1/domainwatch/list', {
    query: { ...query, fields: 'deleted_at', limit: SHOWN },
    select: ({ data }) => data[0] ?? [],
  })
  const { data } = newest
  return (
    <section className="stack" aria-label={t(title)}>
      <h2>{t(title)}</h2>
      <QueryError of={newest} />
      {data?.length === 0 && <p className="muted">{t('home.none')}</p>}
      <ul className="home-names">
        {(data ?? []).map((record) => (
          <li key={record.name}>
            <Link
              to="dominios"
              query={new URLSearchParams({ ...query, ficha: record.name })}
              className="plain-link ellipsis"
            >
              <DomainName name={record.name} />
            </Link>
            <StatusTag status={record.status} />
            <span className="figures muted">{dateTime(timeOf(record))}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Hidden once there is something of each. */
function FirstSteps({ hasDomains, hasImages }: { hasDomains: boolean; hasImages: boolean }) {
  const one = { query: { limit: 1 }, select: ({ count }: { readonly count: number }) => count > 0 }
  const domains = useApi(['domains', 'any'], 'GET /api/v1/domainwatch/list', { ...one, enabled: hasDomains })
  const images = useApi(['images', 'any'], 'GET /api/v1/imagestore/list', { ...one, enabled: hasImages })
  if (domains.data !== false && images.data !== false) return null
  return (
    <section className="stack first-steps">
      <h2>{t('home.first')}</h2>
      {domains.data === false && (
        <Link to="importar">
          <Icon name="upload" /> {t('home.firstDomains')}
        </Link>
      )}
      {images.data === false && (
        <Link to="imagenes">
          <Icon name="images" /> {t('home.firstImages')}
        </Link>
      )}
    </section>
  )
}

/** The storage used by the application's images. */
function Images() {
  const usage = useUsage()
  const { data } = usage
  if (data === undefined) return <QueryError of={usage} />
  const room = data.max_bytes === null ? undefined : Math.max(0, data.max_bytes - data.bytes)
  if (data.images === 0 && room === undefined) return null
  return (
    <ul className="tiles">
      <Tile label="nav.images" value={count(data.images)} to="imagenes" />
      <Tile label="app.stored" value={bytes(data.bytes)} to="espacio" />
      {room !== undefined && <Tile label="home.room" value={bytes(room)} to="espacio" />}
    </ul>
  )
}

/** The lists that the service fetches regularly. Nothing if there are none. */
function Feeds() {
  const { data = [] } = useApi(['domains', 'feeds'], 'GET /api/v1/domainwatch/feeds', {
    select: ({ data }) => data,
  })
  if (data.length === 0) return null
  return (
    <section className="stack">
      <h2 id="feeds">{t('feeds.title')}</h2>
      <WideTable
        labelledBy="feeds"
        heads={[
          t('feeds.name'),
          t('domains.state'),
          t('feeds.lastSuccess'),
          t('feeds.lastChange'),
          t('feeds.records'),
        ]}
      >
        {data.map((feed) => (
          <Row key={feed.name} feed={feed} />
        ))}
      </WideTable>
    </section>
  )
}

function Row({ feed }: { feed: Feed }) {
  const { name, every, host, last_success, last_change, read, changed, refused, error } = feed
  return (
    <tr>
      <th scope="row">
        {name}
        <div className="muted">{t('feeds.every', { every: toDuration(every), host })}</div>
      </th>
      <td>
        {t(getState(feed))}
        {error !== null && <div className="muted">{error}</div>}
      </td>
      <td>{last_success === null ? t('app.never') : <Time at={last_success} />}</td>
      <td>{last_change === null ? t('app.never') : <Time at={last_change} />}</td>
      <td>
        {read !== null &&
          changed !== null &&
          refused !== null &&
          t('feeds.counts', { read: count(read), changed: count(changed), refused: count(refused) })}
      </td>
    </tr>
  )
}

/** Says an interval of the settings, such as `6h`, in words. */
function toDuration(every: string): string {
  const unit = { s: 1, m: 60, h: 3_600, d: 86_400 }[every.at(-1) ?? '']
  return unit === undefined ? every : duration(Number.parseInt(every, 10) * unit)
}

function getState({ stale, error, last_attempt }: Feed) {
  if (stale === 1) return 'feeds.stale'
  if (error !== null) return 'feeds.failed'
  return last_attempt === null ? 'feeds.waiting' : 'feeds.ok'
}

/** Names that came free, that nobody has decided about and no rule hides: what triage begins with. */
const UNSEEN = { status: '0', seen: '0', revision: '0', discarded: '0', hidden: '0' }
const FRESH_MS = 60_000

const isFailing = ({ state, paused, last_error, pending }: Watch): boolean =>
  state === 'dead' || (paused === 0 && last_error !== null && pending > 0)

/** What waits for the person: names to decide about and watches that fail. Leaves when nothing does. */
function Waiting() {
  const { data: stats } = useStats(UNSEEN)
  const { data: failing = 0 } = useApi(['domains', 'watches', 'failing'], 'GET /api/v1/domainwatch/watches', {
    staleTime: FRESH_MS,
    select: ({ data }) => data.filter(isFailing).length,
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
function News() {
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
function Colleagues() {
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
