import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ask } from '../api/client.ts'
import { useStore } from '../app/store.ts'
import { useKeys } from '../app/shortcuts.ts'
import { Loading } from '../design/answer.tsx'
import { Icon } from '../design/icon.tsx'
import { Fault, Link, Notice } from '../design/parts.tsx'
import { count, t } from '../i18n/index.ts'
import { DnsOutcome, useDns } from '../domains/dns-now.tsx'
import { MarkTags, StatusTag } from '../domains/marks-cell.tsx'
import { patched, patches, setMark, undo, type Mark } from '../domains/marks.ts'
import { DomainName } from '../domains/name.tsx'
import type { DomainRecord } from '../domains/records.ts'
import './triage.css'

/** A morning's worth. */
const BATCH = 500

/** One name at a time: the newest that nobody has marked yet. */
export default function TriageScreen() {
  const { data, error, refetch } = useQuery({
    queryKey: ['domains', 'triage'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const answer = await ask('GET /api/v1/domainwatch/list', { query: { limit: BATCH }, signal })
      return (answer.data.data[0] ?? []).filter((one) => one.revision === 0 && one.discarded === 0)
    },
  })
  if (error !== null) return <Fault error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  return <Pile records={data} onMore={() => void refetch()} />
}

function Pile({ records, onMore }: { records: readonly DomainRecord[]; onMore: () => void }) {
  const [at, setAt] = useState(0)
  const over = useStore(patches)
  const record = records[at]
  const next = records[at + 1]
  const skips = useRef<('mark' | 'skip')[]>([])
  // The story of the next one is there when its turn comes.
  useDns(next?.name ?? '', next !== undefined)

  const mark = (name: Mark) => {
    if (record === undefined) return
    skips.current.push('mark')
    void setMark([record], name, 1)
    setAt(at + 1)
  }
  const skip = () => {
    if (record === undefined) return
    skips.current.push('skip')
    setAt(at + 1)
  }
  const back = () => {
    const last = skips.current.pop()
    if (last === undefined) return
    if (last === 'mark') void undo()
    setAt(Math.max(0, at - 1))
  }
  useKeys({
    r: () => mark('revision'),
    d: () => mark('discarded'),
    ' ': (event) => {
      if (event.target instanceof HTMLButtonElement || event.target instanceof HTMLAnchorElement) return
      event.preventDefault()
      skip()
    },
    z: back,
    Backspace: back,
  })
  return (
    <div className="triage">
      <h1 className="visually-hidden">{t('nav.triage')}</h1>
      <Arc done={at} all={records.length} />
      {record === undefined ? (
        <Notice icon="check" title={t('triage.done')} text={t('triage.doneText')}>
          <div className="row">
            <button type="button" className="button" onClick={back}>
              <Icon name="undo" />
              {t('app.undo')}
            </button>
            <button
              type="button"
              className="button"
              onClick={() => (setAt(0), (skips.current = []), onMore())}
            >
              {t('triage.more')}
            </button>
          </div>
        </Notice>
      ) : (
        <>
          <Card record={patched(record, over)} />
          <div className="triage-keys">
            <button type="button" className="button review-button" onClick={() => mark('revision')}>
              <Icon name="flag" />
              {t('domains.review')} <kbd aria-hidden="true">r</kbd>
            </button>
            <button type="button" className="button" onClick={skip}>
              {t('triage.skip')} <kbd aria-hidden="true">{t('triage.space')}</kbd>
            </button>
            <button type="button" className="button" onClick={() => mark('discarded')}>
              <Icon name="trash" />
              {t('domains.discard')} <kbd aria-hidden="true">d</kbd>
            </button>
            <button type="button" className="button quiet" disabled={at === 0} onClick={back}>
              <Icon name="undo" />
              {t('app.undo')} <kbd aria-hidden="true">z</kbd>
            </button>
          </div>
        </>
      )}
    </div>
  )
}

function Card({ record }: { record: DomainRecord }) {
  const { data, error, refetch } = useDns(record.name)
  return (
    <section className="triage-card" aria-live="polite" aria-atomic="true">
      <p className="triage-name" data-long={record.length > 22 ? 'yes' : 'no'}>
        <DomainName name={record.name} />
      </p>
      <p className="row center">
        <StatusTag status={record.status} />
        <MarkTags record={record} left={undefined} />
        <span className="muted mono">{record.date_reg}</span>
        <span className="muted">{record.agent}</span>
      </p>
      <div className="triage-dns">
        <h2 className="muted">{t('sheet.dns')}</h2>
        {error !== null && <Fault error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <p className="muted">{t('sheet.dnsAsking')}</p>}
        {data !== undefined && <DnsOutcome outcome={data} />}
      </div>
      <Link to="dominios" query={new URLSearchParams({ search: record.name, ficha: record.name })}>
        {t('domains.details')}
      </Link>
    </section>
  )
}

const CIRCLE = 2 * Math.PI * 20

function Arc({ done, all }: { done: number; all: number }) {
  const part = all === 0 ? 1 : done / all
  return (
    <div className="triage-arc">
      <svg viewBox="0 0 48 48" aria-hidden="true">
        <circle cx="24" cy="24" r="20" />
        <circle cx="24" cy="24" r="20" className="done" strokeDasharray={`${CIRCLE * part} ${CIRCLE}`} />
      </svg>
      <span className="figures muted">{t('triage.left', { n: count(all - done) })}</span>
    </div>
  )
}
