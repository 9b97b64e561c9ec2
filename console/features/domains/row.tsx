import { memo, type ReactNode, useRef, type KeyboardEvent, type PointerEvent } from 'react'
import { t } from '../../i18n/index.ts'
import {
  type ColumnId,
  type SortColumn,
  SIGNALS,
  type SignalId,
  COLUMNS,
  MAX_WIDTH,
  MIN_WIDTH,
  getNextNumberOrder,
  getSort,
  isNumberOrder,
  type NumberOrder,
  preferTable,
  showWidth,
  tablePreferences,
  toNumberKey,
} from './columns.ts'
import type { DomainRecord } from './records.ts'
import { type TimeLeft, DecisionTags, MarkTags, ObjectionTag, StatusTag, DomainName } from './tags.tsx'
import { Time, Icon } from '../../design/elements.tsx'
import type { Filters } from '../filters/filters.ts'

export interface TableActions {
  readonly open: (record: DomainRecord) => void
  readonly toggle: (record: DomainRecord, index: number, isRange: boolean) => void
  readonly sort: (column: SortColumn) => void
  readonly nextStretch: (cursor: string) => void
}

interface RowProps {
  readonly columns: readonly ColumnId[]
  readonly index: number
  readonly top: number
  readonly height: number
  readonly record: DomainRecord | undefined
  readonly match: string
  readonly isAscii: boolean
  /** It was changed by someone while visible. */
  readonly isFresh: boolean
  readonly isActive: boolean
  readonly isSelected: boolean
  /** It has a change that is not stored yet. */
  readonly isPending: boolean
  readonly left: TimeLeft | undefined
  readonly actions: TableActions
  readonly onActive: (index: number) => void
}

export const Row = memo(function Row(props: RowProps) {
  const {
    columns,
    index,
    top,
    height,
    record,
    match,
    isAscii,
    isFresh,
    isActive,
    isSelected,
    isPending,
    left,
    actions,
    onActive,
  } = props
  const place = { transform: `translateY(${top}px)`, height }
  if (record === undefined) {
    return (
      <div className="table-row" role="row" aria-rowindex={index + 2} id={`row-${index}`} style={place}>
        <span role="gridcell" className="filler">
          <span className="bone" />
        </span>
      </div>
    )
  }
  const states = [
    isActive ? ' active' : '',
    isFresh ? ' fresh' : '',
    isPending ? ' pending' : '',
    record.discarded === 1 ? ' discarded' : '',
  ]
  return (
    <div
      className={`table-row${states.join('')}`}
      role="row"
      id={`row-${index}`}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-busy={isPending}
      style={place}
      onClick={(event) => {
        const isPick = event.shiftKey || event.metaKey || event.ctrlKey
        // Opening the details moves the table: the second click of a double click would hit another row.
        if (event.detail > 1 && !isPick) return
        onActive(index)
        if (isPick) {
          dropTextSelection(event)
          actions.toggle(record, index, event.shiftKey)
        } else actions.open(record)
      }}
    >
      <span
        role="gridcell"
        className="pick"
        onClick={(event) => {
          event.stopPropagation()
          onActive(index)
          dropTextSelection(event)
          actions.toggle(record, index, event.shiftKey)
        }}
      >
        <span className={isSelected ? 'box-mark on' : 'box-mark'} aria-hidden="true" />
        <span className="visually-hidden">{t('domains.select')}</span>
      </span>
      {columns.map((id) => {
        const { className, content, title } = CELLS[id]
        return (
          <span key={id} role="gridcell" className={className} title={title?.(record)}>
            {content({ record, match, isAscii, left })}
          </span>
        )
      })}
    </div>
  )
})

/** Browsers select the text between two clicks with Shift. */
function dropTextSelection({ shiftKey }: { readonly shiftKey: boolean }): void {
  if (shiftKey) getSelection()?.removeAllRanges()
}

export interface CellProps {
  readonly record: DomainRecord
  readonly match: string
  readonly isAscii: boolean
  readonly left: TimeLeft | undefined
}

interface Cell {
  readonly className: string
  readonly content: (props: CellProps) => ReactNode
  readonly title?: (record: DomainRecord) => string
}

const figureCell = (id: SignalId): Cell => ({
  className: 'cell-length right figures',
  content: ({ record }) => SIGNALS[id](record),
})
const textCell = (id: SignalId): Cell => ({
  className: id === 'numbers' ? 'cell-agent figures' : 'cell-agent mono',
  content: ({ record }) => SIGNALS[id](record),
  title: SIGNALS[id],
})

/** The cell of each column. */
const CELLS: Readonly<Record<ColumnId, Cell>> = {
  name: {
    className: 'cell-name',
    content: ({ record, match, isAscii }) => (
      <DomainName name={record.name} match={match} isAscii={isAscii} words={record.words} />
    ),
  },
  length: { className: 'cell-length right figures', content: ({ record }) => record.length },
  state: { className: 'cell-state', content: ({ record }) => <StatusTag status={record.status} /> },
  marks: {
    className: 'cell-marks',
    content: ({ record, left }) => (
      <>
        <MarkTags record={record} left={left} />
        <ObjectionTag record={record} isRow />
        <DecisionTags record={record} />
      </>
    ),
  },
  agent: {
    className: 'cell-agent',
    content: ({ record }) => record.agent,
    title: ({ agent }) => agent,
  },
  registered: { className: 'cell-date figures', content: ({ record }) => <Time at={record.date_reg} /> },
  deleted: {
    className: 'cell-date second figures',
    content: ({ record }) => record.deleted_at && <Time at={record.deleted_at} />,
  },
  modified: { className: 'cell-date second figures', content: ({ record }) => <Time at={record.date_mod} /> },
  interest: { className: 'cell-length right figures', content: ({ record }) => record.interest },
  shape: textCell('shape'),
  syllables: figureCell('syllables'),
  demand: figureCell('demand'),
  twins: textCell('twins'),
  drops: figureCell('drops'),
  age: figureCell('age'),
  objection: figureCell('objection'),
  numbers: textCell('numbers'),
}

/** Pixels per press of an arrow key. */
const STEP = 16

/** The column headers: a click sorts, dragging an edge resizes. */
export function TableHead(props: {
  columns: readonly ColumnId[]
  filters: Filters
  onSort: (column: SortColumn) => void
  /** The orders that the column of numbers goes through. */
  numberOrders: readonly NumberOrder[]
  /** Selects rows. */
  children: ReactNode
}) {
  const { columns, filters, onSort, numberOrders, children } = props
  const sorted = getSort(filters)
  return (
    <div className="table-head" role="row" aria-rowindex={1}>
      <span role="columnheader" className="pick">
        {children}
      </span>
      {columns.map((id) => {
        const { label, help, isFigure, sort } = COLUMNS[id]
        const isByNumber = id === 'numbers' && isNumberOrder(sorted.column)
        const next = id === 'numbers' ? getNextNumberOrder(numberOrders, sorted) : sort
        const isSorted = isByNumber || (sort !== undefined && sort === sorted.column)
        const text = isByNumber ? `${t(label)}: ${toNumberKey(sorted.column)}` : t(label)
        return (
          <span
            key={id}
            role="columnheader"
            className={isFigure === true ? 'right' : undefined}
            title={help && t(help)}
            aria-sort={isSorted ? (sorted.isAscending ? 'ascending' : 'descending') : undefined}
          >
            {next === undefined ? (
              <span className="ellipsis">{text}</span>
            ) : (
              <button
                type="button"
                className={isSorted ? 'sort on' : 'sort'}
                tabIndex={-1}
                onClick={() => onSort(next)}
              >
                <span className="ellipsis">{text}</span>
                {isSorted && <Icon name={sorted.isAscending ? 'up' : 'down'} />}
              </button>
            )}
            <Edge id={id} label={t(label)} />
          </span>
        )
      })}
    </div>
  )
}

/** The right edge of a column. Arrow keys move it, too; Home and a double click reset the width. */
function Edge({ id, label }: { id: ColumnId; label: string }) {
  const edge = useRef<HTMLSpanElement>(null)
  const begun = useRef({ x: 0, width: 0 })
  const now = () => edge.current?.parentElement?.getBoundingClientRect().width ?? COLUMNS[id].least
  const keep = () => preferTable({ widths: tablePreferences.get().widths })
  const reset = () => {
    showWidth(id, undefined)
    keep()
  }
  const press = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? STEP : event.key === 'ArrowLeft' ? -STEP : undefined
    if (event.key === 'Home') reset()
    else if (by === undefined) return
    else {
      showWidth(id, now() + by)
      keep()
    }
    event.preventDefault()
    // Otherwise the table would scroll.
    event.stopPropagation()
  }
  const grab = (event: PointerEvent) => {
    if (event.button !== 0) return
    event.preventDefault()
    edge.current?.setPointerCapture(event.pointerId)
    begun.current = { x: event.clientX, width: now() }
  }
  const drag = (event: PointerEvent) => {
    if (edge.current?.hasPointerCapture(event.pointerId) !== true) return
    showWidth(id, begun.current.width + event.clientX - begun.current.x)
  }
  return (
    <span
      ref={edge}
      className="edge"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={t('columns.width', { name: label })}
      aria-valuenow={tablePreferences.get().widths[id] ?? COLUMNS[id].least}
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={MAX_WIDTH}
      onKeyDown={press}
      onPointerDown={grab}
      onPointerMove={drag}
      onLostPointerCapture={keep}
      onDoubleClick={reset}
    />
  )
}
