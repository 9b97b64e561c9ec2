import { useMemo } from 'react'
import { useIsMedium } from '../../base/screen-width.ts'
import { useStore } from '../../base/store.ts'
import type { FilterCounts } from '../filters/filter-counts.ts'
import { t } from '../../i18n/index.ts'
import type { ColumnId } from './columns.ts'
import { tablePreferences } from './table-preferences.ts'

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
  const common = commonOf(facets)
  const key = [...common].join('\n')
  return useMemo(() => {
    if (chosen !== undefined) return { columns: chosen, common: [] }
    const columns = USUAL.filter((id) => !common.has(id) && !(isMedium && SPARE.includes(id)))
    return { columns, common: [...common.values()] }
    // `key` represents `common`, which is a new object at each render.
  }, [chosen, isMedium, key])
}

function commonOf(facets: FilterCounts | undefined): ReadonlyMap<ColumnId, string> {
  const common = new Map<ColumnId, string>()
  const total = facets?.total ?? 0
  if (facets === undefined || total < LEAST_ROWS) return common
  if (facets.countOf('status', '1') === total) common.set('state', t('domains.bought'))
  if (facets.countOf('status', '0') === total) common.set('state', t('domains.free'))
  const [agent] = facets.agents
  if (agent?.count === total) common.set('agent', agent.value)
  return common
}
