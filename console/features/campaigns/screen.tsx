import { keepPreviousData } from '@tanstack/react-query'
import { useApi } from '../../api/query-client.ts'
import type { Campaign } from '../../../clients/js/schema.ts'
import { replaceQuery, useRoute, withParameters } from '../../base/router.ts'
import { TextField } from '../../design/field.tsx'
import { Page } from '../../design/page.tsx'
import { Link, Tag, Time } from '../../design/elements.tsx'
import { Notice, QueryResult } from '../../design/notice.tsx'
import { t, tn, type TextKey } from '../../i18n/index.ts'
import { DomainName } from '../domains/tags.tsx'
import { queryOf, type Filters } from '../filters/filters.ts'
import '../../i18n/texts/campaigns.ts'
import '../watches/watches.css'

/** More are found only if a shorter time is asked for. */
const MAX_CAMPAIGNS = 200
const MAX_NAMES = 8
/** Finding them takes seconds, and they change little. */
const FRESH_MS = 60_000

/** Groups of names that were registered together. */
export default function CampaignsScreen() {
  const { query } = useRoute()
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? '']
  const campaigns = useApi(['campaigns', from, to], 'GET /api/v1/domainwatch/campaigns', {
    query: { from: from || undefined, to: to || undefined, limit: MAX_CAMPAIGNS },
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  })
  const dayField = (name: 'from' | 'to', label: TextKey) => (
    <TextField
      key={name}
      label={t(label)}
      type="date"
      value={query.get(name) ?? campaigns.data?.[name].slice(0, 10) ?? ''}
      onChange={(day) => replaceQuery(withParameters(query, { [name]: day || undefined }))}
    />
  )
  return (
    <Page
      title={t('nav.campaigns')}
      tools={[dayField('from', 'filter.from'), dayField('to', 'filter.to')]}
      explained={t('campaign.explained')}
    >
      <QueryResult of={campaigns}>
        {({ data }) =>
          data.length === 0 ? (
            <Notice icon="layers" title={t('campaign.none')} text={t('campaign.noneText')} />
          ) : (
            <ul className="watches" aria-busy={campaigns.isPlaceholderData}>
              {data.map((campaign) => (
                <Group key={`${campaign.kind} ${campaign.key} ${campaign.from}`} campaign={campaign} />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </Page>
  )
}

function Group({ campaign }: { campaign: Campaign }) {
  const { from, to, count, names } = campaign
  const { label, shared, filters, isExact } = describe(campaign)
  return (
    <li className="watch stack" aria-label={shared}>
      <div className="row">
        <h2 className="mono">{shared}</h2>
        <Tag label={t(label)} />
        <div className="row watch-actions">
          <Link to="dominios" query={queryOf({ ...filters, from, to })} className="button">
            {isExact ? tn('campaign.open', count) : t('campaign.openLike')}
            <span className="visually-hidden"> {shared}</span>
          </Link>
        </div>
      </div>
      <p className="muted figures">
        {tn('campaign.names', count)} · <Time at={from} /> – <Time at={to} />
      </p>
      <ul className="row">
        {names.slice(0, MAX_NAMES).map((name) => (
          <li key={name}>
            <Link
              to="dominios"
              query={new URLSearchParams({ search: name, ficha: name })}
              className="plain-link"
            >
              <DomainName name={name} />
            </Link>
          </li>
        ))}
        {count > MAX_NAMES && <li className="muted">{t('domains.andMore', { n: count - MAX_NAMES })}</li>}
      </ul>
    </li>
  )
}

interface Description {
  readonly label: TextKey
  /** What the names share. */
  readonly shared: string
  /** Filters that find the names, and perhaps others that were registered at the time. */
  readonly filters: Filters
  readonly isExact: boolean
}

const SERVERS = { ns: 'filter.ns', mx: 'filter.mx', ip: 'filter.ip' } as const

function describe({ kind, key }: Campaign): Description {
  if (kind === 'word') return { label: 'filter.word', shared: key, filters: { word: key }, isExact: true }
  // Words and numbers of a skeleton can only be filtered as any text.
  if (kind === 'skeleton') {
    const filters = { pattern: key.replaceAll('#', '*') }
    return { label: 'campaign.skeleton', shared: key, filters, isExact: false }
  }
  const server = (['ns', 'mx', 'ip'] as const).find((name) => key.startsWith(`${name}=`)) ?? 'ns'
  const shared = key.slice(server.length + 1)
  return { label: SERVERS[server], shared, filters: { [server]: shared }, isExact: true }
}
