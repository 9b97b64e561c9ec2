import { useRef, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import { Icon } from '../../design/elements.tsx'
import { t } from '../../i18n/index.ts'
import {
  COLUMNS,
  MAX_WIDTH,
  MIN_WIDTH,
  type ColumnId,
  getNextNumberOrder,
  getSort,
  isNumberOrder,
  type NumberOrder,
  type SortColumn,
  preferTable,
  showWidth,
  tablePreferences,
  toNumberKey,
} from './columns.ts'
import type { Filters } from '../filters/filters.ts'

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
