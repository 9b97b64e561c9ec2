import { type RefObject, useRef, type PointerEvent, type ReactNode } from 'react'
import { useApi } from '../../api/query-client.ts'
import { Link, Fact, Icon } from '../../design/elements.tsx'
import {
  Because,
  RecordFacts,
  useDnsLookup,
  useSimilar,
  LookalikeList,
  RecordTags,
  DnsAnswer,
} from '../domains/record-facts.tsx'
import { DomainName, seenBy } from '../domains/tags.tsx'
import type { History } from '../domains/history.tsx'
import { NoteField, TagField } from '../domains/annotation-fields.tsx'
import { useCurrentRecord } from '../domains/optimistic-updates.ts'
import type { DomainRecord } from '../domains/records.ts'
import { dateTime, t, type TextKey } from '../../i18n/index.ts'
import '../../i18n/texts/sheet.ts'
import '../../i18n/texts/triage.ts'

/** Number of changes read to find who marked a record. */
const CHANGES = 20
const FRESH_MS = 60_000
const LOOKALIKES = 6

/** Who marked a record, and its earlier name servers. */
export function useRecordHistory(name: string, isWanted = true) {
  return useApi(['domains', 'past', name], 'GET /api/v1/domainwatch/history', {
    query: { domain: name, limit: CHANGES },
    enabled: isWanted,
    staleTime: FRESH_MS,
    select: getRecordHistory,
  })
}

interface Props {
  readonly record: DomainRecord
  readonly note: RefObject<HTMLTextAreaElement | null>
  readonly onNoted: () => void
}

/** The record to decide on, updated with changes of others. */
export function Card({ record: read, note, onNoted }: Props) {
  const record = useCurrentRecord()(read)
  return (
    <article className="triage-card" aria-labelledby="triage-name">
      <h2
        id="triage-name"
        className="triage-name"
        data-long={record.length > 22 ? 'yes' : 'no'}
        aria-live="polite"
      >
        <DomainName name={record.name} words={record.words} />
      </h2>
      <div className="triage-facts stack">
        <Facts record={record} />
        <NoteField record={record} isLocked={false} box={note} onDone={onNoted} />
        <TagField record={record} isLocked={false} />
        <Link
          to="dominios"
          query={new URLSearchParams({ search: record.name, ficha: record.name })}
          className="triage-details"
        >
          {t('domains.details')}
        </Link>
      </div>
      <div className="triage-help stack">
        <Because record={record} />
        <Servers name={record.name} />
        <Similar name={record.name} />
      </div>
    </article>
  )
}

function Facts({ record }: { record: DomainRecord }) {
  const { data: past } = useRecordHistory(record.name)
  return (
    <>
      <RecordTags record={record} left={undefined}>
        {(past?.marks ?? []).map(({ text, account, date }) => (
          <span key={text} className="muted">
            {t('triage.markedBy', { mark: text, account, date: dateTime(date) })}
          </span>
        ))}
      </RecordTags>
      <RecordFacts record={record}>
        <Fact label={t('domains.isSeen')}>{seenBy(record)}</Fact>
      </RecordFacts>
    </>
  )
}

function Servers({ name }: { name: string }) {
  const query = useDnsLookup(name)
  const { data: past } = useRecordHistory(name)
  return (
    <section className="stack">
      <h3>{t('sheet.dns')}</h3>
      <DnsAnswer of={query} />
      {(past?.servers ?? []).map(({ until, text }) => (
        <p key={until} className="muted">
          {t('triage.serversBefore', { until: dateTime(until) })} <span className="mono">{text}</span>
        </p>
      ))}
    </section>
  )
}

function Similar({ name }: { name: string }) {
  const { data } = useSimilar(name)
  return (
    <section className="stack">
      <h3>{t('sheet.similar')}</h3>
      <LookalikeList data={data?.slice(0, LOOKALIKES)}>{(one) => <DomainName name={one} />}</LookalikeList>
    </section>
  )
}

/** Maximum number of earlier name servers on a card. */
const MAX_BEFORE = 3

const MARKS: Readonly<Record<string, TextKey>> = {
  revision: 'domains.review',
  discarded: 'domains.discarded',
}

/** Returns the marks of a record with their authors, and its earlier name servers, newest first. */
function getRecordHistory({ data, dns }: History) {
  const marks = Object.entries(MARKS).flatMap(([field, label]) => {
    const last = data.find(({ to, from }) => to?.[field] !== undefined && to[field] !== (from?.[field] ?? 0))
    if (last === undefined || last.account === null || last.to?.[field] !== 1) return []
    return [{ text: t(label), account: last.account, date: last.date }]
  })
  const servers = dns.slice(1, 1 + MAX_BEFORE).map(({ last, dns: names, status }) => ({
    until: last,
    text:
      status === 404 ? t('history.noName') : names.length === 0 ? t('history.noServers') : names.join(', '),
  }))
  return { marks, servers }
}

/** Minimum distance of a swipe in pixels. */
const DECIDES_PX = 96
/** Distance from which on it is not a tap. */
const BEGINS_PX = 10

interface SwipeProps {
  readonly onLeft: () => void
  readonly onRight: () => void
  readonly children: ReactNode
}

interface Touch {
  readonly id: number
  readonly x: number
  readonly y: number
  isSwipe: boolean
}

/** Follows the finger. Released far enough to a side, it decides; otherwise nothing happens. */
export function Swipe({ onLeft, onRight, children }: SwipeProps) {
  const box = useRef<HTMLDivElement>(null)
  const touch = useRef<Touch>(undefined)

  const show = (dx: number) => {
    const side = dx >= DECIDES_PX ? 'right' : dx <= -DECIDES_PX ? 'left' : 'none'
    box.current?.style.setProperty('--swipe', `${dx}px`)
    box.current?.setAttribute('data-decides', side)
    box.current?.toggleAttribute('data-swiping', dx !== 0)
  }
  const end = () => {
    touch.current = undefined
    show(0)
  }
  const press = (event: PointerEvent) => {
    if (event.pointerType !== 'touch' || !event.isPrimary || isControl(event.target)) return
    touch.current = { id: event.pointerId, x: event.clientX, y: event.clientY, isSwipe: false }
  }
  const move = (event: PointerEvent) => {
    const now = touch.current
    if (now?.id !== event.pointerId) return
    const dx = event.clientX - now.x
    if (!now.isSwipe) {
      if (Math.abs(event.clientY - now.y) > Math.max(BEGINS_PX, Math.abs(dx))) return end()
      if (Math.abs(dx) < BEGINS_PX) return
      now.isSwipe = true
      box.current?.setPointerCapture(event.pointerId)
    }
    show(dx)
  }
  const letGo = (event: PointerEvent) => {
    const now = touch.current
    if (now?.id !== event.pointerId) return
    const dx = event.clientX - now.x
    const isSwipe = now.isSwipe
    end()
    if (!isSwipe) return
    if (dx >= DECIDES_PX) onRight()
    else if (dx <= -DECIDES_PX) onLeft()
  }
  return (
    <div
      ref={box}
      className="swipe"
      data-decides="none"
      onPointerDown={press}
      onPointerMove={move}
      onPointerUp={letGo}
      onPointerCancel={end}
    >
      {children}
      <p className="swipe-hints" aria-hidden="true">
        <span className="swipe-hint left">
          <Icon name="left" />
          {t('domains.discard')}
        </span>
        <span className="swipe-hint right">
          {t('domains.review')}
          <Icon name="right" />
        </span>
      </p>
    </div>
  )
}

const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('button, a, input, textarea, summary') !== null
