import type { TextKey } from '../../i18n/index.ts'
import type { SortColumn } from './sorting.ts'

export const COLUMN_IDS = [
  'name',
  'length',
  'state',
  'marks',
  'agent',
  'registered',
  'deleted',
  'modified',
] as const
export type ColumnId = (typeof COLUMN_IDS)[number]

export interface Column {
  readonly label: TextKey
  /** Minimum width of its content, in pixels. */
  readonly least: number
  /** Its share of the remaining width; without one, a column has its minimum width. */
  readonly share: number | undefined
  readonly isFigure?: boolean
  readonly sort?: SortColumn
}

export const COLUMNS: Readonly<Record<ColumnId, Column>> = {
  name: { label: 'domains.name', least: 180, share: 2.4, sort: 'name' },
  length: { label: 'domains.length', least: 66, share: undefined, isFigure: true, sort: 'length' },
  state: { label: 'domains.state', least: 96, share: undefined },
  marks: { label: 'domains.marks', least: 120, share: 1.2 },
  agent: { label: 'domains.agent', least: 80, share: 1 },
  registered: { label: 'domains.date', least: 158, share: undefined, sort: 'registered' },
  deleted: { label: 'columns.deleted', least: 158, share: undefined, sort: 'deleted' },
  modified: { label: 'domains.changed', least: 158, share: undefined, sort: 'modified' },
}

export const MIN_WIDTH = 48
export const MAX_WIDTH = 800
const CHECKBOX = 36
const GAP = 12
const END = 16

export type Widths = Readonly<Partial<Record<ColumnId, number>>>

/** Returns `grid-template-columns`, and the width in pixels below which the table scrolls. */
export function layoutOf(columns: readonly ColumnId[], widths: Widths): { template: string; least: number } {
  const isFixed = (id: ColumnId) => widths[id] !== undefined || COLUMNS[id].share === undefined
  const tracks = columns.map((id) => {
    const { least, share } = COLUMNS[id]
    const width = widths[id]
    if (width !== undefined) return `${width}px`
    return share === undefined ? `${least}px` : `minmax(${least}px, ${share}fr)`
  })
  const sum = columns.reduce((total, id) => total + (widths[id] ?? COLUMNS[id].least) + GAP, 0)
  // If every width is fixed, the rest stays empty.
  const rest = columns.every(isFixed) ? ['minmax(0, 1fr)'] : []
  return { template: [`${CHECKBOX}px`, ...tracks, ...rest].join(' '), least: CHECKBOX + sum + END }
}

export const boundWidth = (width: number): number =>
  Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)))
