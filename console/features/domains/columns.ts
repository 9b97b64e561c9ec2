import { useMemo } from 'react'
import { browserStorage, onOtherTab } from '../../base/browser-storage.ts'
import { LIST_ORDERS } from '../../base/constants.ts'
import { useIsMedium, createStore, useStore } from '../../base/store.ts'
import type { FilterCounts } from '../filters/filter-counts.tsx'
import { type Filters, withFilters } from '../filters/filters.ts'
import { t, type TextKey, count } from '../../i18n/index.ts'
import type { DomainRecord } from './records.ts'
import { objectionDays } from './tags.tsx'

export const SIGNAL_IDS = [
  'shape',
  'syllables',
  'demand',
  'twins',
  'drops',
  'age',
  'objection',
  'numbers',
] as const
export type SignalId = (typeof SIGNAL_IDS)[number]

const figure = (n: number | null | undefined): string => (typeof n === 'number' ? count(n) : '')

/** The signals of a record as text; empty if it has none. */
export const SIGNALS: Readonly<Record<SignalId, (record: DomainRecord) => string>> = {
  shape: ({ shape = '' }) => shape,
  syllables: ({ syllables }) => figure(syllables),
  demand: ({ demand }) => figure(demand),
  twins: ({ twins = [] }) => twins.map((name) => `${name}.cl`).join(', '),
  drops: ({ drops }) => figure(drops),
  age: ({ age }) => figure(age),
  objection: (record) => figure(objectionDays(record)),
  numbers: ({ numbers = {} }) =>
    Object.entries(numbers)
      .map(([key, n]) => `${key} ${count(n)}`)
      .join(' · '),
}

export const COLUMN_IDS = [
  'name',
  'length',
  'state',
  'marks',
  'agent',
  'registered',
  'deleted',
  'modified',
  'interest',
  ...SIGNAL_IDS,
] as const
export type ColumnId = (typeof COLUMN_IDS)[number]

export interface Column {
  readonly label: TextKey
  readonly help?: TextKey
  /** Minimum width of its content, in pixels. */
  readonly least: number
  /** Its share of the remaining width; without one, a column has its minimum width. */
  readonly share: number | undefined
  readonly isFigure?: boolean
  readonly sort?: SortColumn
  /** The further field of records that it shows, which is fetched only with the column. */
  readonly field?: string
}

/** A narrow column of figures. */
const FIGURE = { least: 66, share: undefined, isFigure: true } as const

export const COLUMNS: Readonly<Record<ColumnId, Column>> = {
  name: { label: 'domains.name', least: 180, share: 2.4, sort: 'name' },
  length: { ...FIGURE, label: 'domains.length', sort: 'length' },
  state: { label: 'domains.state', least: 96, share: undefined },
  marks: { label: 'domains.marks', least: 120, share: 1.2 },
  agent: { label: 'domains.agent', least: 80, share: 1 },
  registered: { label: 'domains.date', least: 158, share: undefined, sort: 'registered' },
  deleted: { label: 'columns.deleted', least: 158, share: undefined, sort: 'deleted' },
  modified: { label: 'domains.changed', least: 158, share: undefined, sort: 'modified' },
  interest: { ...FIGURE, label: 'domains.interest', least: 84, sort: 'interest', field: 'interest' },
  shape: { label: 'filter.shape', help: 'help.shape', least: 80, share: 0.6, field: 'shape' },
  syllables: { ...FIGURE, label: 'filter.syllables', help: 'help.syllables', field: 'syllables' },
  demand: { ...FIGURE, label: 'columns.demand', help: 'help.demand', field: 'demand' },
  twins: { label: 'columns.twins', help: 'columns.twinsHelp', least: 120, share: 1, field: 'twins' },
  drops: { ...FIGURE, label: 'columns.drops', help: 'help.drops', least: 92, field: 'drops' },
  age: { ...FIGURE, label: 'columns.age', help: 'help.age', field: 'age' },
  objection: {
    ...FIGURE,
    label: 'columns.objection',
    help: 'columns.objectionHelp',
    least: 92,
    sort: 'objection',
  },
  numbers: { label: 'columns.numbers', least: 120, share: 1, field: 'numbers' },
}

export const MIN_WIDTH = 48
export const MAX_WIDTH = 800
const CHECKBOX = 36
const GAP = 12
const END = 16

export type Widths = Readonly<Partial<Record<ColumnId, number>>>

/** Returns `grid-template-columns`, and the width in pixels below which the table scrolls. */
export function toLayout(columns: readonly ColumnId[], widths: Widths): { template: string; least: number } {
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

const boundWidth = (width: number): number => Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)))

/** Orders of the list, as named by the API. */
export type SortColumn = (typeof LIST_ORDERS)[number] | NumberOrder

/** An order by imported numbers of one key. */
export type NumberOrder = `num_${string}`
const NUMBER_PREFIX = 'num_'
export const toNumberKey = (order: NumberOrder): string => order.slice(NUMBER_PREFIX.length)
export const isNumberOrder = (order = ''): order is NumberOrder => order.startsWith(NUMBER_PREFIX)

export interface Sorting {
  readonly column: SortColumn
  readonly isAscending: boolean
}

/** Texts, lengths and deadlines start ascending, other times descending. */
const BEGINS_ASCENDING: ReadonlySet<SortColumn> = new Set(['name', 'length', 'objection'])

const usualOrder = (filters: Filters): SortColumn =>
  filters['last_deleted'] === undefined ? 'registered' : 'deleted'

export function getSort(filters: Filters): Sorting {
  const { order, sort } = filters
  const column = isNumberOrder(order) ? order : LIST_ORDERS.find((one) => one === order)
  return { column: column ?? usualOrder(filters), isAscending: sort === 'asc' }
}

/** Returns the orders by the numbers that these records have, and the current one, by key. */
export function getNumberOrders(records: readonly DomainRecord[], filters: Filters): readonly NumberOrder[] {
  const found = records.flatMap(({ numbers = {} }) =>
    Object.keys(numbers).map((key) => `num_${key}` as const),
  )
  const { column } = getSort(filters)
  return [...new Set(isNumberOrder(column) ? [...found, column] : found)].sort()
}

/** Returns the key to sort by next: each is sorted in both directions before the next one. */
export function getNextNumberOrder(orders: readonly NumberOrder[], now: Sorting): NumberOrder | undefined {
  const at = orders.findIndex((order) => order === now.column)
  return at < 0 || now.isAscending ? (orders[at + 1] ?? orders[0]) : orders[at]
}

/** Returns the filters sorted by a column; reverses the order if they are sorted by it already. */
export function sortedBy(filters: Filters, column: SortColumn): Filters {
  const now = getSort(filters)
  const isAscending = now.column === column ? !now.isAscending : BEGINS_ASCENDING.has(column)
  return withFilters(filters, {
    order: column === usualOrder(filters) ? undefined : column,
    sort: isAscending ? 'asc' : undefined,
  })
}

/** Returns the filters in the reverse order. */
export const reversed = (filters: Filters): Filters =>
  withFilters(filters, { sort: getSort(filters).isAscending ? 'desc' : 'asc' })

export const DENSITIES = ['compact', 'roomy'] as const
export type Density = (typeof DENSITIES)[number]

/** Height of a row in pixels. */
export const ROW_HEIGHTS: Readonly<Record<Density, number>> = { compact: 36, roomy: 44 }

export interface TablePreferences {
  /** Undefined for the default: columns that fit and differ between rows. */
  readonly columns: readonly ColumnId[] | undefined
  readonly widths: Widths
  readonly density: Density
}

const PLACE = 'catalejo.table'
const NONE: TablePreferences = { columns: undefined, widths: {}, density: 'compact' }

/** Preferences of this browser for the table of domains. */
export const tablePreferences = createStore<TablePreferences>(load())

// Otherwise what is preferred here next would undo what was preferred there.
onOtherTab((name) => {
  if (name === PLACE) tablePreferences.set(load())
})

export function preferTable(changes: Partial<TablePreferences>): void {
  tablePreferences.set({ ...tablePreferences.get(), ...changes })
  browserStorage.write(PLACE, JSON.stringify(tablePreferences.get()))
}

/** Shows a width while dragging; `preferTable` stores it. */
export function showWidth(id: ColumnId, width: number | undefined): void {
  const { [id]: _old, ...others } = tablePreferences.get().widths
  const widths = width === undefined ? others : { ...others, [id]: boundWidth(width) }
  tablePreferences.set({ ...tablePreferences.get(), widths })
}

function load(): TablePreferences {
  try {
    const found: unknown = JSON.parse(browserStorage.read(PLACE) ?? '{}')
    if (typeof found !== 'object' || found === null) return NONE
    const { columns, widths, density }: Partial<Record<keyof TablePreferences, unknown>> = found
    return {
      columns: Array.isArray(columns) ? getChosen(columns) : undefined,
      widths: typeof widths === 'object' && widths !== null ? getWidths(widths) : {},
      density: DENSITIES.find((one) => one === density) ?? 'compact',
    }
  } catch {
    return NONE
  }
}

/** In the order of the table. The name is always shown, because rows need it. */
function getChosen(columns: readonly unknown[]): readonly ColumnId[] {
  return COLUMN_IDS.filter((id) => id === 'name' || columns.includes(id))
}

function getWidths(widths: object): Widths {
  const entries = Object.entries(widths).flatMap(([id, width]) => {
    const known = COLUMN_IDS.find((one) => one === id)
    return known === undefined || typeof width !== 'number' || !Number.isFinite(width)
      ? []
      : [[known, boundWidth(width)] as const]
  })
  return Object.fromEntries(entries)
}

/** Returns the further fields that only chosen columns need, for `fields` of the API. */
export const chosenFields = (): readonly string[] =>
  (tablePreferences.get().columns ?? []).flatMap((id) => COLUMNS[id].field ?? [])

const USUAL: readonly ColumnId[] = ['name', 'length', 'state', 'marks', 'agent', 'registered']
/** Columns that are hidden first on narrow screens. */
const SPARE: readonly ColumnId[] = ['agent']
/** With few rows, all columns are shown. */
const LEAST_ROWS = 30

export interface VisibleColumns {
  readonly columns: readonly ColumnId[]
  /** The common values of columns hidden for that reason. */
  readonly common: readonly string[]
}

/** The visible columns. By default, a column with the same value in every row is hidden and its value shown once. */
export function useVisibleColumns(facets: FilterCounts | undefined): VisibleColumns {
  const { columns: chosen } = useStore(tablePreferences)
  const isMedium = useIsMedium()
  const common = getCommon(facets)
  const key = [...common].join('\n')
  return useMemo(() => {
    if (chosen !== undefined) return { columns: chosen, common: [] }
    const columns = USUAL.filter((id) => !common.has(id) && !(isMedium && SPARE.includes(id)))
    return { columns, common: [...common.values()] }
    // `key` represents `common`, which is a new object at each render.
  }, [chosen, isMedium, key])
}

function getCommon(facets: FilterCounts | undefined): ReadonlyMap<ColumnId, string> {
  const common = new Map<ColumnId, string>()
  const total = facets?.total ?? 0
  if (facets === undefined || total < LEAST_ROWS) return common
  if (facets.countOf('status', '1') === total) common.set('state', t('domains.registered'))
  if (facets.countOf('status', '0') === total) common.set('state', t('domains.free'))
  const [agent] = facets.agents
  if (agent?.count === total) common.set('agent', agent.value)
  return common
}
