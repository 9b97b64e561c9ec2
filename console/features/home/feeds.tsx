import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import type { Operations } from '../../api/schema.ts'
import { WideTable } from '../../design/wide-table.tsx'
import { Time } from '../../design/time.tsx'
import { count, t } from '../../i18n/index.ts'

type Feed = Operations['GET /api/v1/domainwatch/feeds']['answer']['data'][number]

/** The lists that the service fetches regularly. Nothing if there are none. */
export function Feeds() {
  const { data = [] } = useQuery({
    queryKey: ['domains', 'feeds'],
    queryFn: async ({ signal }) => (await callApi('GET /api/v1/domainwatch/feeds', { signal })).data.data,
  })
  if (data.length === 0) return null
  return (
    <section className="stack">
      <h2 id="feeds">{t('feeds.title')}</h2>
      <WideTable
        labelledBy="feeds"
        heads={[
          t('feeds.name'),
          t('feeds.state'),
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
        <div className="muted">{t('feeds.every', { every, host })}</div>
      </th>
      <td>
        {t(getState(feed))}
        {error !== null && <div className="muted">{error}</div>}
      </td>
      <td>{last_success === null ? t('feeds.never') : <Time at={last_success} />}</td>
      <td>{last_change === null ? t('feeds.never') : <Time at={last_change} />}</td>
      <td>
        {read !== null &&
          changed !== null &&
          refused !== null &&
          t('feeds.counts', { read: count(read), changed: count(changed), refused: count(refused) })}
      </td>
    </tr>
  )
}

function getState({ stale, error, last_attempt }: Feed) {
  if (stale === 1) return 'feeds.stale'
  if (error !== null) return 'feeds.failed'
  return last_attempt === null ? 'feeds.waiting' : 'feeds.ok'
}
