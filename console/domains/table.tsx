import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { useNarrow } from '../app/narrow.ts'
import { usePendingSubjects } from '../app/operations.ts'
import { useStore } from '../app/store.ts'
import { Icon } from '../design/icon.tsx'
import { Fault, Notice } from '../design/parts.tsx'
import { t } from '../i18n/index.ts'
import { useTimeLeft } from './discarded-times.ts'
import type { Filters } from './filters.ts'
import { subjectOf } from './marks.ts'
import { changedRecords, patched, patches } from './overlay.ts'
import { PAGE_ROWS, STRETCH_ROWS, useRows } from './pages.ts'
import type { DomainRecord } from './records.ts'
import { Row, type TableActions } from './row.tsx'
import './table.css'

const OVERSCAN = 8

export interface LoadedRows {
  readonly count: number
  readonly at: (index: number) => DomainRecord | undefined
  /** Whether these are still the rows of the filters before. */
  readonly isStale: boolean
}

interface Props {
  readonly filters: Filters
  /** The cursor that the shown stretch of the list starts at. */
  readonly start: string | undefined
  readonly selected: ReadonlyMap<string, DomainRecord>
  readonly isAscii: boolean
  readonly active: number
  readonly onActive: (index: number) => void
  readonly actions: TableActions
  readonly onCount: (count: number, isAll: boolean) => void
  /** Tells what is loaded, for those who move through the rows elsewhere. */
  readonly onRows: (rows: LoadedRows) => void
}

export function DomainTable(props: Props) {
  const { filters, start, selected, isAscii, active, onActive, actions, onCount, onRows } = props
  const isNarrow = useNarrow()
  const scroller = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ first: 0, last: 40 })
  const rows = useRows(filters, start, seen)
  const over = useStore(patches)
  const fresh = useStore(changedRecords)
  const pending = usePendingSubjects()
  const at = (index: number) => {
    const record = rows.at(index)
    return record === undefined ? undefined : patched(fresh.get(record.name) ?? record, over)
  }
  const virtualizer = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? 60 : 36),
    overscan: OVERSCAN,
    paddingStart: isNarrow ? 0 : 36,
    scrollPaddingStart: isNarrow ? 0 : 36,
  })
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 40]
  useEffect(() => {
    // The next page is asked for before its place comes in sight.
    setSeen((old) => {
      const ahead = last + PAGE_ROWS / 2
      return old.first === first && old.last === ahead ? old : { first, last: ahead }
    })
  }, [first, last])
  useEffect(() => virtualizer.measure(), [isNarrow, virtualizer])
  useEffect(() => {
    // Keys of the details move it, too.
    if (active < rows.count) virtualizer.scrollToIndex(active)
  }, [active])
  const identity = JSON.stringify([filters, start])
  useEffect(() => {
    scroller.current?.scrollTo(0, 0)
  }, [identity])
  useEffect(() => onCount(rows.count, rows.total !== undefined), [rows.count, rows.total, onCount])
  useEffect(() => onRows({ at, count: rows.count, isStale: rows.isStale }))
  const inSight = items.map(({ index }) => at(index)).filter((record) => record !== undefined)
  const timeLeft = useTimeLeft(inSight.filter((one) => one.discarded === 1).map(({ name }) => name))

  function move(to: number) {
    const index = Math.max(0, Math.min(rows.count - 1, to))
    onActive(index)
    virtualizer.scrollToIndex(index)
  }

  function press(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / 36) - 2)
    const record = at(active)
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.count - 1,
    }
    const to = moves[event.key]
    if (to !== undefined) move(to)
    else if (event.key === 'Enter' && record !== undefined) actions.open(record)
    else if (event.key === ' ' && record !== undefined) actions.toggle(record, active, event.shiftKey)
    else return
    event.preventDefault()
  }

  const isOldest = filters['sort'] === 'asc'
  return (
    <div
      ref={scroller}
      className={rows.isStale ? 'table stale' : 'table'}
      role="grid"
      aria-label={t('domains.table')}
      aria-rowcount={rows.total ?? -1}
      aria-multiselectable="true"
      aria-busy={rows.isFirst}
      aria-activedescendant={rows.count > 0 ? `row-${active}` : undefined}
      tabIndex={0}
      onKeyDown={press}
    >
      <div className="table-head" role="row">
        <span role="columnheader">
          <span className="visually-hidden">{t('domains.select')}</span>
        </span>
        <span role="columnheader">{t('domains.name')}</span>
        <span role="columnheader" className="right">
          {t('domains.length')}
        </span>
        <span role="columnheader">{t('domains.state')}</span>
        <span role="columnheader">{t('domains.marks')}</span>
        <span role="columnheader">{t('domains.agent')}</span>
        <span role="columnheader" aria-sort={isOldest ? 'ascending' : 'descending'}>
          <button type="button" className="sort" tabIndex={-1} onClick={actions.sort}>
            {t('domains.date')}
            <Icon name={isOldest ? 'up' : 'down'} />
          </button>
        </span>
      </div>
      {rows.count > 0 && (
        <div className="table-body" role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const record = at(item.index)
            return (
              <Row
                key={item.key}
                index={item.index}
                top={item.start}
                height={item.size}
                record={record}
                match={filters['agent'] === undefined ? (filters['search'] ?? '').toLowerCase() : ''}
                isAscii={isAscii}
                isFresh={record !== undefined && fresh.has(record.name)}
                isActive={item.index === active}
                isSelected={record !== undefined && selected.has(record.name)}
                isPending={record !== undefined && pending.has(subjectOf(record.name))}
                left={record?.discarded === 1 ? timeLeft(record.name) : undefined}
                actions={actions}
                onActive={onActive}
              />
            )
          })}
        </div>
      )}
      {rows.count === 0 && (
        <div role="row" className="table-state">
          <div role="gridcell">
            {rows.error !== null ? (
              <Fault error={rows.error} onRetry={rows.retry} />
            ) : rows.isFirst ? (
              <Bones />
            ) : (
              <Nothing isFiltered={Object.keys(filters).length > 0} />
            )}
          </div>
        </div>
      )}
      {rows.nextStretch !== undefined && (
        <div role="row" className="table-state">
          <div role="gridcell">
            <p className="muted">{t('domains.segmentEnd', { n: STRETCH_ROWS })}</p>
            <button
              type="button"
              className="button"
              onClick={() => actions.nextStretch(rows.nextStretch ?? '')}
            >
              {t('domains.segmentNext')}
            </button>
          </div>
        </div>
      )}
    </div>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Notice icon="search" title={t('domains.empty')} text={t('domains.emptyText')} />
  ) : (
    <Notice icon="globe" title={t('domains.none')} text={t('domains.noneText')} />
  )
}

function Bones() {
  return (
    <div className="bones" role="status" aria-label={t('app.loading')}>
      {Array.from({ length: 12 }, (_, i) => (
        <div key={i} className="bone" style={{ width: `${30 + ((i * 37) % 45)}%` }} />
      ))}
    </div>
  )
}
