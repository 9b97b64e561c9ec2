import type { Filters } from '../filters.ts'
import type { DayCounts } from './days.ts'
import type { Tally } from './tally.ts'

/** Moments as records have them, both included. */
export interface Span {
  readonly from: string
  readonly to: string
}

/** What is counted. */
export interface CountRequest {
  readonly filters: Filters
  /** The days of the series, as moments from the first to the last. */
  readonly span: Span
}

export interface Counted {
  readonly days: DayCounts
  readonly tally: Tally
}

/** The filters of the series: their days are of the span alone. */
export const seriesFilters = ({ filters }: CountRequest): Filters => ({
  ...filters,
  from: undefined,
  to: undefined,
})
