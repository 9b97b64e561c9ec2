import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { MAX_PAGE_RECORDS } from '../../base/constants.ts'
import { callApi } from '../../api/client.ts'
import { useStore } from '../../base/store.ts'
import { Button } from '../../design/button.tsx'
import { Icon } from '../../design/icon.tsx'
import { QueryError } from '../../design/query-result.tsx'
import { t } from '../../i18n/index.ts'
import { useDnsLookup } from './dns-lookup.tsx'
import { changedRecords, patches } from './optimistic-updates.ts'
import { timelineOf, type Entry } from './timeline.ts'
import '../../i18n/texts/sheet.ts'
import './history.css'

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
  const entries = data === undefined ? [] : timelineOf(data.data)
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
      <span className="time-line-head">
        <Icon name={ICONS[kind]} />
        <strong>{title}</strong>{' '}
        {account !== null && <span className="muted">{t('history.by', { account })}</span>}
      </span>
      <span className="mono muted">
        <time>{date}</time>
        {until !== undefined && <> · {t('history.until', { date: until })}</>}
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
