import { browserStorage, onOtherTab } from '../../base/browser-storage.ts'
import { createStore } from '../../base/store.ts'
import { boundWidth, COLUMN_IDS, type ColumnId, type Widths } from './columns.ts'

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
      columns: Array.isArray(columns) ? chosenOf(columns) : undefined,
      widths: typeof widths === 'object' && widths !== null ? widthsOf(widths) : {},
      density: DENSITIES.find((one) => one === density) ?? 'compact',
    }
  } catch {
    return NONE
  }
}

/** In the order of the table. The name is always shown, because rows need it. */
function chosenOf(columns: readonly unknown[]): readonly ColumnId[] {
  return COLUMN_IDS.filter((id) => id === 'name' || columns.includes(id))
}

function widthsOf(widths: object): Widths {
  const entries = Object.entries(widths).flatMap(([id, width]) => {
    const known = COLUMN_IDS.find((one) => one === id)
    return known === undefined || typeof width !== 'number' || !Number.isFinite(width)
      ? []
      : [[known, boundWidth(width)] as const]
  })
  return Object.fromEntries(entries)
}
