import { useMemo } from 'react'
import { useMedium } from '../app/narrow.ts'
import { useStore } from '../app/store.ts'
import type { Facets } from '../facets/facets.ts'
import { t } from '../i18n/index.ts'
import type { ColumnId } from './columns.ts'
import { tablePreferences } from './table-preferences.ts'

const USUAL: readonly ColumnId[] = ['name', 'length', 'state', 'marks', 'agent', 'registered']
/** Columns that leave first where there is little room. */
const SPARE: readonly ColumnId[] = ['agent']
/** A few rows are quicker to read with all columns than with a note about them. */
const LEAST_ROWS = 30

export interface ShownColumns {
  readonly columns: readonly ColumnId[]
  /** What all rows have in common, of columns that were left out for it. */
  readonly common: readonly string[]
}

/**
 * The chosen columns. Where nobody chose, a column with the same value in every row of the view steps back: what it says is
 * said once.
 */
export function useShownColumns(facets: Facets | undefined): ShownColumns {
  const { columns: chosen } = useStore(tablePreferences)
  const isMedium = useMedium()
  const common = commonOf(facets)
  const key = [...common].join('\n')
  return useMemo(() => {
    if (chosen !== undefined) return { columns: chosen, common: [] }
    const columns = USUAL.filter((id) => !common.has(id) && !(isMedium && SPARE.includes(id)))
    return { columns, common: [...common.values()] }
    // `key` stands for `common`, which is made anew at each rendering.
  }, [chosen, isMedium, key])
}

function commonOf(facets: Facets | undefined): ReadonlyMap<ColumnId, string> {
  const common = new Map<ColumnId, string>()
  const total = facets?.total ?? 0
  if (facets === undefined || total < LEAST_ROWS) return common
  if (facets.countOf('status', '1') === total) common.set('state', t('domains.bought'))
  if (facets.countOf('status', '0') === total) common.set('state', t('domains.free'))
  const [agent] = facets.agents
  if (agent?.count === total) common.set('agent', agent.value)
  return common
}
