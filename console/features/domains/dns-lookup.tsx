import { useQuery } from '@tanstack/react-query'
import { ApiError, callApi } from '../../api/client.ts'
import { errorMessage } from '../../api/error-message.ts'
import { Button, Icon, Link } from '../../design/elements.tsx'
import { QueryError } from '../../design/notice.tsx'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/sheet.ts'

/** The filters of lists by servers, in the order in which they are shown. */
const SERVER_FILTERS = ['ns', 'mx', 'ip'] as const
type ServerFilter = (typeof SERVER_FILTERS)[number]

type Outcome =
  | ({ readonly kind: 'servers' } & Readonly<Record<ServerFilter, readonly string[]>>)
  | { readonly kind: 'no-such-name' }
  /** The look-up failed, which says nothing about the name. */
  | { readonly kind: 'unknown'; readonly error: ApiError }

const FRESH_MS = 60_000

export function useDnsLookup(name: string, isWanted = true) {
  return useQuery({
    queryKey: ['domains', 'dns', name],
    enabled: isWanted,
    staleTime: FRESH_MS,
    retry: false,
    queryFn: async ({ signal }): Promise<Outcome> => {
      try {
        const { data } = await callApi('GET /api/v1/domainwatch/dns', {
          query: { domain: `${name}.cl`, types: 'mx,a' },
          signal,
        })
        const { mx = [], a = [] } = data.records ?? {}
        // A null MX (RFC 7505) names no server.
        const mail = mx.map(({ exchange }) => exchange).filter((server) => server !== '.')
        return { kind: 'servers', ns: data.dns, mx: [...new Set(mail)], ip: a }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.code === 'domain_not_found') return { kind: 'no-such-name' }
        if (error.status >= 502 && error.status <= 504) return { kind: 'unknown', error }
        throw error
      }
    },
  })
}

export function DnsLookup({ name }: { name: string }) {
  const query = useDnsLookup(name)
  const { data, error, isFetching, refetch } = query
  return (
    <section className="stack" aria-busy={isFetching}>
      <div className="row">
        <h3 className="grow">{t('sheet.dns')}</h3>
        <Button look="quiet" label={t('sheet.ask')} disabled={isFetching} onClick={() => void refetch()} />
      </div>
      <div aria-live="polite">
        <QueryError of={query} />
        {data === undefined && error === null && <p className="muted">{t('sheet.dnsAsking')}</p>}
        {data !== undefined && <DnsOutcome outcome={data} />}
      </div>
    </section>
  )
}

export function DnsOutcome({ outcome }: { outcome: Outcome }) {
  switch (outcome.kind) {
    case 'no-such-name':
      return (
        <p className="tag free said">
          <Icon name="check" />
          {t('sheet.dnsGone')}
        </p>
      )
    case 'unknown':
      return (
        <div className="callout unknown">
          <p>{t('sheet.dnsUnknown', { msg: errorMessage(outcome.error) })}</p>
          <p className="muted">{t('sheet.dnsUnknownHint')}</p>
        </div>
      )
    case 'servers':
      if (outcome.ns.length === 0) return <p>{t('sheet.dnsNone')}</p>
      return (
        <>
          <ul className="stack tight mono">
            {SERVER_FILTERS.flatMap((filter) =>
              outcome[filter].map((server) => (
                <li key={`${filter} ${server}`}>
                  <span className="muted">{filter.toUpperCase()}</span>{' '}
                  <Link to="dominios" query={new URLSearchParams({ [filter]: server })}>
                    {server}
                  </Link>
                </li>
              )),
            )}
          </ul>
          <p className="muted">{t('sheet.sharing')}</p>
        </>
      )
  }
}
