import { useMemo, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import { withFilters, type Filters } from './filters.ts'
import { day, t, tn } from '../../i18n/index.ts'
import { selectedSpan, toBuckets, dayOf, spanAround, type Bucket } from './day-buckets.ts'
import { useDebounced } from '../../base/store.ts'
import { useStats, daysInRange, RangePicker, useStatsInRange } from './filter-counts.tsx'
import '../../i18n/texts/stats.ts'

const SETTLED_MS = 400
const NONE: Filters = {}

interface Props {
  readonly filters: Filters
  readonly onChange: (filters: Filters) => void
}

/**
 * Registrations per day above the line and deletions below it, for the filters without their dates. A click filters
 * by a bar, dragging by several.
 */
export default function DayHistogram({ filters, onChange }: Props) {
  const settled = useDebounced(filters, SETTLED_MS)
  const anyDay = withFilters(settled ?? NONE, { from: undefined, to: undefined })
  const { stats: recent, range } = useStatsInRange(anyDay, settled !== undefined)
  const span = recent.data === undefined ? undefined : spanAround(filters, recent.data)
  const around = useStats({ ...anyDay, ...span }, span !== undefined)
  const { data, isPlaceholderData } = span === undefined ? recent : around
  const buckets = useMemo(() => {
    return data === undefined ? [] : toBuckets(daysInRange(data, span === undefined ? range : undefined))
    // The span is that of the data.
  }, [data, range, span === undefined])
  // Drawn without bars if no day has any: hiding it would move the rows under the pointer.
  if (data === undefined) return null
  const picker = <RangePicker range={span === undefined ? range : undefined} />
  return <Strip {...{ buckets, picker, filters, onChange }} isStale={isPlaceholderData} />
}

function Strip(props: Props & { buckets: readonly Bucket[]; isStale: boolean; picker: ReactNode }) {
  const { buckets, isStale, picker, filters, onChange } = props
  const box = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<number>()
  const [anchor, setAnchor] = useState<number>()
  const last = buckets.length - 1
  const at = pointed === undefined ? undefined : Math.min(pointed, last)
  const kept = selectedSpan(buckets, filters)
  const brushed = anchor === undefined || at === undefined ? kept : ordered(anchor, at)

  function filter(from: number, to: number) {
    const [first, end] = [buckets[from], buckets[to]]
    if (first === undefined || end === undefined) return
    const days = { from: first.from, to: end.to }
    const isSame = dayOf(filters['from'] ?? '') === days.from && dayOf(filters['to'] ?? '') === days.to
    onChange(withFilters(filters, isSame ? { from: undefined, to: undefined } : days))
  }

  function under(event: PointerEvent): number {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - left) / width) * buckets.length)
    return Math.max(0, Math.min(last, index))
  }

  function press(event: KeyboardEvent) {
    const now = at ?? kept?.[1] ?? last
    const to = {
      ArrowLeft: now - 1,
      ArrowRight: now + 1,
      PageUp: now - 7,
      PageDown: now + 7,
      Home: 0,
      End: last,
    }[event.key]
    if (to !== undefined) {
      const next = Math.max(0, Math.min(last, to))
      setAnchor(event.shiftKey ? (anchor ?? now) : undefined)
      setPointed(next)
    } else if (event.key === 'Enter' || event.key === ' ') {
      filter(...ordered(anchor ?? now, now))
      setAnchor(undefined)
    } else return
    event.preventDefault()
  }

  const shown = buckets[at ?? -1]
  return (
    <div className="days">
      <span className="muted figures" aria-hidden="true">
        {day(buckets[0]?.from ?? '')}
      </span>
      <span className="days-read figures">
        <span className="ellipsis">{shown === undefined ? <Legend /> : inWords(shown)}</span>
        {picker}
      </span>
      <span className="muted figures" aria-hidden="true">
        {day(buckets[last]?.to ?? '')}
      </span>
      <div
        ref={box}
        className={isStale ? 'days-strip stale' : 'days-strip'}
        role="slider"
        tabIndex={0}
        aria-label={t('facets.days')}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at ?? last}
        aria-valuetext={inWords(shown ?? buckets[last])}
        onKeyDown={press}
        onBlur={() => {
          setPointed(undefined)
          setAnchor(undefined)
        }}
        onPointerMove={(event) => setPointed(under(event))}
        onPointerLeave={() => {
          if (anchor === undefined) setPointed(undefined)
        }}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          setPointed(under(event))
          setAnchor(under(event))
        }}
        onPointerUp={(event) => {
          if (anchor !== undefined) filter(...ordered(anchor, under(event)))
          setAnchor(undefined)
        }}
        onPointerCancel={() => setAnchor(undefined)}
      >
        <Bars buckets={buckets} brushed={brushed} pointed={at} />
      </div>
    </div>
  )
}

const HEIGHT = 100
/** The gap between bars, as a share of a bar's width. */
const GAP = 0.18

function Bars(props: {
  buckets: readonly Bucket[]
  brushed: readonly [number, number] | undefined
  pointed: number | undefined
}) {
  const { buckets, brushed, pointed } = props
  const { above, up, down } = useMemo(() => {
    const most = (side: 'registered' | 'deleted') => Math.max(0, ...buckets.map((one) => one[side]))
    const scale = HEIGHT / Math.max(1, most('registered') + most('deleted'))
    const line = Math.max(HEIGHT * 0.1, Math.min(HEIGHT * 0.9, most('registered') * scale))
    // Minimum height, so that small counts are visible.
    const high = (n: number) => (n === 0 ? 0 : Math.max(3, n * scale))
    const bar = (i: number, top: number, height: number) =>
      height === 0 ? '' : `M${i + GAP / 2} ${top}h${1 - GAP}v${height}h${GAP - 1}z`
    return {
      above: line,
      up: buckets.map((one, i) => bar(i, line - high(one.registered), high(one.registered))).join(''),
      down: buckets.map((one, i) => bar(i, line + 1, high(one.deleted))).join(''),
    }
  }, [buckets])
  return (
    <svg viewBox={`0 0 ${buckets.length} ${HEIGHT + 4}`} preserveAspectRatio="none" aria-hidden="true">
      {brushed !== undefined && (
        <rect className="brushed" x={brushed[0]} width={brushed[1] - brushed[0] + 1} height={HEIGHT + 4} />
      )}
      {pointed !== undefined && <rect className="pointed" x={pointed} width={1} height={HEIGHT + 4} />}
      <rect className="axis" y={above} width={buckets.length} height={1} />
      <path className="registered" d={up} />
      <path className="deleted" d={down} />
    </svg>
  )
}

function Legend() {
  return (
    <span className="muted">
      <span className="swatch" aria-hidden="true" />
      {t('stats.registered')} <span className="swatch free" aria-hidden="true" />
      {t('stats.deleted')}
    </span>
  )
}

const ordered = (a: number, b: number): [number, number] => (a < b ? [a, b] : [b, a])

function inWords(bucket: Bucket | undefined): string {
  if (bucket === undefined) return ''
  const { from, to, registered, deleted } = bucket
  const days = from === to ? day(from) : `${day(from)} – ${day(to)}`
  return `${days} · ${tn('facets.registered', registered)} · ${tn('facets.deleted', deleted)}`
}
