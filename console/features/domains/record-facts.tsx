import type { ReactNode } from 'react'
import { useStore } from '../../base/store.ts'
import { language, t } from '../../i18n/index.ts'
import type { DomainRecord } from './records.ts'
import { Time, Fact, Button, Icon, Link } from '../../design/elements.tsx'
import { COLUMNS, SIGNAL_IDS, SIGNALS } from './columns.ts'
import {
  DismissedTag,
  DomainName,
  MarkTags,
  objectionDays,
  ObjectionTag,
  StatusTag,
  type TimeLeft,
} from './tags.tsx'
import { useQuery } from '@tanstack/react-query'
import { ApiError, callApi } from '../../api/client.ts'
import { useApi } from '../../api/query-client.ts'
import { errorMessage } from '../../api/error-message.ts'
import { QueryError } from '../../design/notice.tsx'
import type { Operations } from '../../../clients/js/schema.ts'
import { withParameters, useRoute } from '../../base/router.ts'
import '../../i18n/texts/sheet.ts'

type Reason = NonNullable<DomainRecord['because']>[number]

interface TagsProps {
  readonly record: DomainRecord
  readonly left: TimeLeft | undefined
  /** Further remarks. */
  readonly children?: ReactNode
}

/** The state of a record, its marks, and what else there is to know before deciding on it. */
export const RecordTags = ({ record, left, children }: TagsProps) => (
  <div className="row">
    <StatusTag status={record.status} />
    <MarkTags record={record} left={left} />
    <ObjectionTag record={record} />
    <DismissedTag record={record} />
    {children}
  </div>
)

/** Says how interesting the group would find a name, and why. Nothing before there are enough decisions. */
export function Because({ record: { interest, because } }: { record: DomainRecord }) {
  const spoken = useStore(language)
  if (typeof interest !== 'number' || because === undefined) return null
  return (
    <section className="stack">
      <h3>{t('interest.why')}</h3>
      <p className="figures">{t('interest.score', { n: interest })}</p>
      <ul className="muted">
        {because.map((reason) => (
          <li key={`${reason.kind} ${reason.value}`}>{spoken === 'es' ? reason.text : inEnglish(reason)}</li>
        ))}
      </ul>
    </section>
  )
}

/** The service gives reasons in Spanish. */
const inEnglish = ({ kind, value, accepted, of }: Reason): string =>
  t('interest.reason', { what: t(`interest.${kind}`, { value }), accepted, of })

/** The facts of a record. Its signals come last. */
export const RecordFacts = ({ record, children }: { record: DomainRecord; children: ReactNode }) => (
  <dl className="facts">
    <Fact label={t('domains.length')} className="figures">
      {record.length}
    </Fact>
    <Fact label={t('sheet.deletedAt')}>{record.deleted_at && <Time at={record.deleted_at} />}</Fact>
    <Fact label={t('domains.date')}>
      <Time at={record.date_reg} />
    </Fact>
    <Fact label={t('domains.agent')}>{record.agent}</Fact>
    {children}
    <SignalFacts record={record} />
  </dl>
)

/** The signals that a record has. The tag says the days, so the end of the time for objections is a date. */
function SignalFacts({ record }: { record: DomainRecord }) {
  const known = SIGNAL_IDS.filter((id) => id !== 'objection' && SIGNALS[id](record) !== '')
  return (
    <>
      {known.map((id) => {
        const { label, help } = COLUMNS[id]
        return (
          <Fact
            key={id}
            label={t(label)}
            title={help && t(help)}
            className={id === 'shape' || id === 'twins' ? 'mono' : 'figures'}
          >
            {SIGNALS[id](record)}
          </Fact>
        )
      })}
      {objectionDays(record) !== undefined && (
        <Fact label={t('sheet.objectUntil')} title={t('help.objection')}>
          <Time at={record.object_until} />
        </Fact>
      )}
    </>
  )
}

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
  const { isFetching, refetch } = query
  return (
    <section className="stack" aria-busy={isFetching}>
      <div className="row">
        <h3 className="grow">{t('sheet.dns')}</h3>
        <Button look="quiet" label={t('sheet.ask')} disabled={isFetching} onClick={() => void refetch()} />
      </div>
      <div aria-live="polite">
        <DnsAnswer of={query} />
      </div>
    </section>
  )
}

/** What the DNS says of a name, or that it is asked. */
export function DnsAnswer({ of: query }: { of: ReturnType<typeof useDnsLookup> }) {
  const { data, error } = query
  return (
    <>
      <QueryError of={query} />
      {data === undefined && error === null && <p className="muted">{t('sheet.dnsAsking')}</p>}
      {data !== undefined && <DnsOutcome outcome={data} />}
    </>
  )
}

function DnsOutcome({ outcome }: { outcome: Outcome }) {
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

const SHOWN = 12

type Lookalike = Operations['GET /api/v1/domainwatch/similar']['answer']['data'][number][number]

/** In English. The service explains in Spanish. */
const REASONS: Readonly<Record<Lookalike['reason'], string>> = {
  accent: 'accents differ',
  homoglyph: 'letters that look alike',
  hyphenation: 'hyphens differ',
  transposition: 'letters swapped',
  repetition: 'letter repeated',
  plural: 'singular or plural',
  'vowel-swap': 'another vowel',
  replacement: 'another letter',
  bitsquatting: 'one bit differs',
  omission: 'letter left out',
  insertion: 'letter inserted',
  addition: 'letter added at the end',
  word: 'word added',
  subdomain: 'could be a subdomain',
}

/** Returns why a name looks like another one. */
const reasonText = ({ reason, detail }: Lookalike): string =>
  language.get() === 'es' ? detail : REASONS[reason]

/** The recorded names that look like one, best match first. */
export function useSimilar(name: string, isWanted = true) {
  return useApi(['domains', 'similar', name], 'GET /api/v1/domainwatch/similar', {
    query: { domain: name, limit: SHOWN },
    enabled: isWanted,
    staleTime: FRESH_MS,
    select: ({ data }) => data[0] ?? [],
  })
}

/** Recorded names that may be confused with this one, and why. */
export function Lookalikes({ name }: { name: string }) {
  const { query } = useRoute()
  const { data, isPending } = useSimilar(name)
  return (
    <section className="stack" aria-busy={isPending}>
      <div className="row">
        <h3 className="grow">{t('sheet.similar')}</h3>
        <Link
          to="vigilancias"
          query={new URLSearchParams({ similar: name, nueva: '' })}
          className="button quiet"
        >
          <Icon name="bell" />
          {t('watch.likeThis')}
        </Link>
      </div>
      <LookalikeList data={data}>
        {(one) => (
          <Link to="dominios" query={withParameters(query, { ficha: one })} className="plain-link ellipsis">
            <DomainName name={one} />
          </Link>
        )}
      </LookalikeList>
    </section>
  )
}

interface ListProps {
  readonly data: readonly Lookalike[] | undefined
  readonly children: (name: string) => ReactNode
}

/** Lookalikes, each with its state and the reason. */
export function LookalikeList({ data, children }: ListProps) {
  return (
    <>
      {data?.length === 0 && <p className="muted">{t('sheet.similarEmpty')}</p>}
      <ul className="lookalikes">
        {(data ?? []).map((one) => (
          <li key={one.name}>
            {children(one.name)}
            <StatusTag status={one.status} />
            <span className="muted reason">{reasonText(one)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
