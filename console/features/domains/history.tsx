import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { callApi } from '../../api/client.ts'
import type { Operations } from '../../../clients/js/schema.ts'
import { MAX_PAGE_RECORDS } from '../../base/constants.ts'
import { useStore } from '../../base/store.ts'
import { Button, Icon, Time } from '../../design/elements.tsx'
import { QueryError } from '../../design/notice.tsx'
import { useDnsLookup } from './record-facts.tsx'
import { changedRecords, patches } from './optimistic-updates.ts'
import { dateTime, t, type TextKey } from '../../i18n/index.ts'
import '../../i18n/texts/sheet.ts'

const FIRST = 40
/** The service stores DNS answers within a second. */
const SEEN_AFTER_MS = 1_500

/** The changes of a record with their authors, and its observed name servers, newest first. */
export function DomainHistory({ name }: { name: string }) {
  const [limit, setLimit] = useState(FIRST)
  // Refetched when the record changes.
  const own = useStore(patches).get(name)?.at
  const theirs = useStore(changedRecords).get(name)?.date_mod
  const query = useQuery({
    queryKey: ['domains', 'history', name, limit, own, theirs],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      callApi('GET /api/v1/domainwatch/history', { query: { domain: name, limit }, signal }),
  })
  const { data, isPending, refetch } = query
  const { dataUpdatedAt: askedAt } = useDnsLookup(name)
  useEffect(() => {
    if (askedAt === 0) return
    const timer = setTimeout(() => void refetch(), SEEN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [askedAt, refetch])
  const entries = data === undefined ? [] : toTimeline(data.data)
  return (
    <section className="stack" aria-busy={isPending}>
      <h3>{t('sheet.history')}</h3>
      <QueryError of={query} />
      {isPending && <div className="bone" />}
      {data !== undefined && entries.length === 0 && <p className="muted">{t('sheet.historyEmpty')}</p>}
      {entries.length > 0 && (
        <ol className="time-line">
          {entries.map((entry) => (
            <Item key={entry.key} entry={entry} />
          ))}
        </ol>
      )}
      {data?.next !== undefined && limit < MAX_PAGE_RECORDS && (
        <div className="row">
          <Button look="quiet" label={t('history.older')} onClick={() => setLimit(MAX_PAGE_RECORDS)} />
        </div>
      )}
    </section>
  )
}

function Item({ entry: { kind, title, date, until, account, lines } }: { entry: Entry }) {
  return (
    <li className={kind}>
      <span className="row tight">
        <Icon name={ICONS[kind]} />
        <strong>{title}</strong>{' '}
        {account !== null && <span className="muted">{t('history.by', { account })}</span>}
      </span>
      <span className="figures muted">
        <Time at={date} />
        {until !== undefined && <> · {t('history.until', { date: dateTime(until) })}</>}
      </span>
      {lines.map(({ sign, text }) => (
        <span key={`${sign} ${text}`} className={`difference ${sign}`}>
          {sign !== 'changed' && (
            <span className="visually-hidden">{t(sign === 'came' ? 'history.came' : 'history.went')} </span>
          )}
          {text}
        </span>
      ))}
    </li>
  )
}

const ICONS = {
  added: 'plus',
  changed: 'clock',
  discarded: 'trash',
  restored: 'undo',
  deleted: 'close',
  dropped: 'clock',
  servers: 'globe',
} as const satisfies Readonly<Record<Entry['kind'], string>>

export type History = Pick<Operations['GET /api/v1/domainwatch/history']['answer'], 'data' | 'dns'>

export interface Entry {
  readonly key: string
  readonly kind: History['data'][number]['kind'] | 'servers'
  readonly title: string
  /** In the time zone of the service, like all times. */
  readonly date: string
  /** When it was last observed, if later. */
  readonly until: string | undefined
  readonly account: string | null
  readonly lines: readonly { readonly sign: 'changed' | 'came' | 'went'; readonly text: string }[]
}

/** Fields described in words. */
const FIELDS: Readonly<Record<string, TextKey>> = {
  status: 'domains.state',
  reserved: 'domains.reserved',
  revision: 'domains.review',
  agent: 'domains.agent',
  date_reg: 'domains.date',
  seen: 'domains.isSeen',
  note: 'app.note',
  tags: 'sheet.tags',
}

/** Merges changes and name servers, newest first; name servers as differences from the previous ones. */
function toTimeline({ data, dns }: History): Entry[] {
  const changes = data.map((change, i): Entry => ({
    key: `change ${i}`,
    kind: change.kind,
    title: t(`history.${change.kind}`),
    date: change.date,
    until: undefined,
    account: change.account,
    lines: change.to === null ? [] : differences(change.from, change.to),
  }))
  const seen = dns.map((one, i): Entry => {
    const before = dns[i + 1]?.dns ?? []
    const came = one.dns.filter((server) => !before.includes(server))
    const went = before.filter((server) => !one.dns.includes(server))
    return {
      key: `servers ${i}`,
      kind: 'servers',
      title: t(
        one.status === 404
          ? 'history.noName'
          : one.dns.length === 0
            ? 'history.noServers'
            : 'history.servers',
      ),
      date: one.first,
      until: one.last === one.first ? undefined : one.last,
      account: null,
      lines: [
        ...came.map((text) => ({ sign: 'came', text }) as const),
        ...went.map((text) => ({ sign: 'went', text }) as const),
      ],
    }
  })
  // Stable: keeps the order of the service.
  return [...changes, ...seen].sort((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0))
}

export type Side = History['data'][number]['from']
type Value = string | number | null | readonly string[]

/** Returns what a change did, in words. */
export function differences(from: Side, to: NonNullable<Side>): Entry['lines'] {
  return Object.entries(FIELDS).flatMap(([field, label]) => {
    const now = to[field]
    // A new record shows its marks; its author is shown already.
    const isUsual = field === 'agent' || (field !== 'status' && isEmpty(now))
    if (now === undefined || (from === null && isUsual)) return []
    const shown = inWords(field, now)
    // Shows only changes; older changes lack fields that were added later.
    if (from !== null && isEmpty(now) && isEmpty(from[field])) return []
    const text =
      from === null ? `${t(label)}: ${shown}` : `${t(label)}: ${inWords(field, from[field])} → ${shown}`
    return [{ sign: 'changed', text }]
  })
}

function inWords(field: string, value: Value | undefined): string {
  if (field === 'status') return t(value === 1 ? 'domains.registered' : 'domains.free')
  if (field === 'reserved' || field === 'revision' || field === 'seen')
    return t(value === 1 ? 'app.yes' : 'app.no')
  if (isEmpty(value)) return '–'
  if (Array.isArray(value)) return value.join(', ')
  return field === 'date_reg' ? dateTime(String(value)) : String(value)
}

const isEmpty = (value: Value | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === 0 ||
  value === '' ||
  (Array.isArray(value) && value.length === 0)
