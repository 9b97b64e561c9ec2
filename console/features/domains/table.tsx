import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type CSSProperties } from 'react'
import { useIsNarrow, useStore } from '../../base/store.ts'
import { usePendingSubjects } from '../work/operations.ts'
import { useShortcuts } from '../../base/shortcuts.ts'
import { Button } from '../../design/elements.tsx'
import { Bones, ErrorNotice, Notice } from '../../design/notice.tsx'
import { filterError } from '../filters/filter-errors.ts'
import { t } from '../../i18n/index.ts'
import { useTimeLeft } from './tags.tsx'
import type { Filters } from '../filters/filters.ts'
import { toSubject } from './marks.ts'
import { changedRecords, useCurrentRecord } from './optimistic-updates.ts'
import { getNumberOrders, toLayout, type ColumnId, ROW_HEIGHTS, tablePreferences } from './columns.ts'
import { PAGE_ROWS, SECTION_ROWS, type Rows, useViewRows, type PagingOrder } from './rows.ts'
import type { DomainRecord } from './records.ts'
import { Row, type TableActions, TableHead } from './row.tsx'
import './table.css'

const OVERSCAN = 8
/** Height of the two-line rows on phones. */
const NARROW_ROW = 60
const HEAD = 36
/** What uses arrow keys itself. */
const OWN_KEYS = 'input, textarea, select, aside, [role=slider], [role=separator]'

export interface LoadedRows {
  readonly count: number
  readonly at: (index: number) => DomainRecord | undefined
  /** Returns the record of the active row. One that is out of sight is only brought into sight. */
  readonly current: () => DomainRecord | undefined
  /** Whether the rows are still those of the previous filters. */
  readonly isStale: boolean
  readonly pagingOrder: PagingOrder
}

/** Returns the position of a record among the loaded rows; -1 if absent. */
export function indexOf(rows: LoadedRows, name: string): number {
  if (rows.isStale) return -1
  for (let i = 0; i < rows.count; i++) if (rows.at(i)?.name === name) return i
  return -1
}

interface Props {
  readonly filters: Filters
  /** The cursor where the shown section of the list starts. */
  readonly start: string | undefined
  /** Number of records of the view, once counted. */
  readonly total: number | undefined
  readonly columns: readonly ColumnId[]
  readonly selected: ReadonlyMap<string, DomainRecord>
  readonly isAscii: boolean
  readonly active: number
  readonly onActive: (index: number) => void
  readonly actions: TableActions
  /** Selects these rows, or clears the selection. */
  readonly onSelectLoaded: (records: readonly DomainRecord[]) => void
  /** Reports the number of loaded rows, undefined while they are those of the previous filters. */
  readonly onCount: (count: number | undefined, isAll: boolean) => void
  /** Reports the loaded rows, for navigation elsewhere. */
  readonly onRows: (rows: LoadedRows) => void
}

/** React's types lack custom properties. */
type Style = CSSProperties & Readonly<Record<`--${string}`, string>>

export function DomainTable(props: Props) {
  const { filters, start, total, columns, selected, isAscii, active } = props
  const { onActive, actions, onSelectLoaded, onCount, onRows } = props
  const isNarrow = useIsNarrow()
  const scroller = useRef<HTMLDivElement>(null)
  const [seen, setSeen] = useState({ first: 0, last: 40 })
  const { density, widths } = useStore(tablePreferences)
  const height = isNarrow ? NARROW_ROW : ROW_HEIGHTS[density]
  const head = isNarrow ? 0 : HEAD
  const { template, least } = toLayout(columns, widths)
  const rows = useViewRows(filters, start, total, seen, move)
  const toCurrent = useCurrentRecord()
  const fresh = useStore(changedRecords)
  const pending = usePendingSubjects()
  const at = (index: number) => {
    const record = rows.at(index)
    return record && toCurrent(record)
  }
  const virtualizer = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
    paddingStart: head,
    scrollPaddingStart: head,
  })
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 40]
  useEffect(() => {
    // Prefetches the next page.
    setSeen((old) => {
      const ahead = last + PAGE_ROWS / 2
      return old.first === first && old.last === ahead ? old : { first, last: ahead }
    })
  }, [first, last])
  useEffect(() => virtualizer.measure(), [height, virtualizer])
  useEffect(() => {
    // Shortcuts of the details scroll it, too.
    if (active >= 0 && active < rows.count) virtualizer.scrollToIndex(active)
  }, [active])
  const identity = JSON.stringify([filters, start])
  useEffect(() => {
    scroller.current?.scrollTo(0, 0)
  }, [identity])
  useEffect(() => {
    if (rows.isStale) onCount(undefined, false)
    else onCount(rows.count, rows.total !== undefined)
  }, [rows.count, rows.total, rows.isStale, onCount])
  // Keys act on the rows that are shown.
  useLayoutEffect(() =>
    onRows({ at, current, count: rows.count, isStale: rows.isStale, pagingOrder: rows.pagingOrder }),
  )
  const timeLeft = useTimeLeft()
  const numberOrders = useMemo(
    () => (columns.includes('numbers') ? getNumberOrders(loadedRows(rows), filters) : []),
    // Rows of the same filters have the same numbers.
    [columns, identity, rows.count, rows.isStale],
  )
  // A section that starts further down has rows of its own.
  const rowCount = rows.total ?? (start === undefined ? total : undefined)

  function move(to: number) {
    const index = Math.max(0, to)
    onActive(index)
    virtualizer.scrollToIndex(index)
  }

  function current(): DomainRecord | undefined {
    const box = scroller.current
    // The rows of the previous filters are not those that the user means.
    if (box === null || active < 0 || rows.isStale) return undefined
    const top = active * height - box.scrollTop
    if (top > -height && top < box.clientHeight - head) return at(active)
    virtualizer.scrollToIndex(active)
    return undefined
  }

  const acting = (act: (isShifted: boolean) => void) => (event: KeyboardEvent) => {
    if (!isForTable(event)) return
    event.preventDefault()
    // Screen readers say which row is active while the table has the focus.
    scroller.current?.focus({ preventScroll: true })
    act(event.shiftKey)
  }
  const moving = (step: (page: number) => number) =>
    acting(() => {
      const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / height) - 2)
      move(Math.min(rows.count - 1, active + step(page)))
    })
  const onCurrent = (act: (record: DomainRecord, isShifted: boolean) => void) =>
    acting((isShifted) => {
      const record = current()
      if (record !== undefined) act(record, isShifted)
    })
  useShortcuts('table', {
    ArrowDown: moving(() => 1),
    ArrowUp: moving(() => -1),
    PageDown: moving((page) => page),
    PageUp: moving((page) => -page),
    Home: acting(() => {
      rows.toStart()
      move(0)
    }),
    End: acting(rows.toEnd),
    Enter: onCurrent(actions.open),
    ' ': onCurrent((record, isShifted) => actions.toggle(record, active, isShifted)),
    'mod+a': acting(() => onSelectLoaded(loadedRows(rows))),
  })

  const style: Style = { '--columns': template, '--least': `${least}px` }
  return (
    <div
      ref={scroller}
      className={rows.isStale ? 'table stale' : 'table'}
      role="grid"
      aria-label={t('nav.domains')}
      aria-rowcount={rowCount === undefined ? -1 : rowCount + 1}
      aria-multiselectable="true"
      aria-busy={rows.isFirst || rows.isGoingToEnd}
      style={style}
      aria-activedescendant={rows.count > 0 && active >= 0 ? `row-${active}` : undefined}
      tabIndex={0}
    >
      <TableHead columns={columns} filters={filters} onSort={actions.sort} numberOrders={numberOrders}>
        <input
          type="checkbox"
          className="pick-all"
          tabIndex={-1}
          aria-label={t('domains.selectLoaded')}
          disabled={rows.count === 0 || rows.isStale}
          checked={selected.size > 0}
          onChange={() => onSelectLoaded(selected.size > 0 ? [] : loadedRows(rows))}
        />
      </TableHead>
      {rows.count > 0 && (
        <div className="table-body" role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const record = at(item.index)
            return (
              <Row
                key={item.key}
                columns={columns}
                index={item.index}
                top={item.start}
                height={item.size}
                record={record}
                match={filters['agent'] === undefined ? (filters['search'] ?? '').toLowerCase() : ''}
                isAscii={isAscii}
                isFresh={record !== undefined && fresh.has(record.name)}
                isActive={item.index === active}
                isSelected={record !== undefined && selected.has(record.name)}
                isPending={record !== undefined && pending.has(toSubject(record.name))}
                left={timeLeft(record)}
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
              <ErrorNotice
                error={rows.error}
                onRetry={filterError(filters) === undefined ? rows.retry : undefined}
              />
            ) : rows.isFirst ? (
              <Bones rows={12} />
            ) : (
              <Nothing isFiltered={Object.keys(filters).length > 0} />
            )}
          </div>
        </div>
      )}
      {rows.isGoingToEnd && (
        <p className="to-end row floating" role="status">
          <span className="spinner" /> {t('columns.toEnd')}
        </p>
      )}
      {rows.nextSection !== undefined && (
        <div role="row" className="table-state">
          <div role="gridcell">
            <p className="muted">{t('domains.segmentEnd', { n: SECTION_ROWS })}</p>
            <Button
              label={t('domains.segmentNext')}
              onClick={() => actions.nextStretch(rows.nextSection ?? '')}
            />
          </div>
        </div>
      )}
    </div>
  )
}

/** Whether a key is for the table, wherever the focus is: not if a control or the details use it themselves. */
function isForTable({ key, target }: KeyboardEvent): boolean {
  const own = key === 'Enter' || key === ' ' ? `${OWN_KEYS}, button, a, summary` : OWN_KEYS
  return !(target instanceof Element && target.closest(own) !== null)
}

function loadedRows({ count, at }: Rows): readonly DomainRecord[] {
  return Array.from({ length: count }, (_, index) => at(index)).filter((record) => record !== undefined)
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Notice icon="search" title={t('domains.empty')} text={t('domains.emptyText')} />
  ) : (
    <Notice icon="globe" title={t('domains.none')} text={t('domains.noneText')} />
  )
}
