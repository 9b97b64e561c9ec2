import { changeQuery, useRoute, withParameters } from '../../base/router.ts'
import { Select } from '../../design/field.tsx'
import { t, type TextKey } from '../../i18n/index.ts'
import { trimmed } from './day-buckets.ts'
import { useStats, type Stats } from './filter-counts.ts'
import type { Filters } from './filters.ts'
import '../../i18n/texts/stats.ts'

/** Spans of days that end today, by their names in the address. The longest is that of the API. */
const RANGES = { '90': 90, '365': 365, todo: 3_660 } as const
type Range = keyof typeof RANGES
const LABELS: Readonly<Record<Range, TextKey>> = {
  '90': 'stats.range90',
  '365': 'stats.range365',
  todo: 'stats.rangeAll',
}
const NAMES = ['90', '365', 'todo'] as const
const PLACE = 'dias'

const isDated = (filters: Filters): boolean => filters['from'] !== undefined || filters['to'] !== undefined

/**
 * Counts of what the filters match, for the days that someone chose, or else for those where the data are: the last 90 if one was
 * registered then, otherwise all. Filters by days decide the span themselves.
 */
export function useStatsInRange(filters: Filters, isWanted = true) {
  const { query } = useRoute()
  const chosen = NAMES.find((name) => name === query.get(PLACE))
  const recent = useStats(filters, isWanted)
  const isOld = recent.data?.days.registered.every((n) => n === 0) === true
  const range: Range | undefined = isDated(filters) ? undefined : (chosen ?? (isOld ? 'todo' : '90'))
  const isLonger = range !== undefined && range !== '90'
  const longer = useStats({ ...filters, days: String(RANGES[range ?? '90']) }, isWanted && isLonger)
  const stats = isLonger ? longer : recent
  return { stats, range }
}

/** Leaves out the days before the first and after the last that has any. */
export function daysInRange({ days }: Stats, range: Range | undefined): Stats['days'] {
  return range === 'todo' ? trimmed(days) : days
}

/** Chooses the days that charts show; part of the address. Absent while filters by days decide that. */
export function RangePicker({ range }: { range: Range | undefined }) {
  const { query } = useRoute()
  if (range === undefined) return null
  return (
    <Select
      className="input range"
      aria-label={t('stats.range')}
      value={range}
      options={NAMES}
      textOf={(name) => t(LABELS[name])}
      onChange={(name) => changeQuery(withParameters(query, { [PLACE]: name }))}
    />
  )
}

/** The address of filters on a screen with a range, which stays. */
export const keepingRange = (query: URLSearchParams, next: URLSearchParams): URLSearchParams =>
  withParameters(next, { [PLACE]: query.get(PLACE) ?? undefined })
