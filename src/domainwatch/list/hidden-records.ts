import type { IndexQuery } from '../../lib/name-index/index.ts'
import { ANY_TIME, readRuleFilters } from '../rules/rule-set.ts'
import type { SavedFilters } from '../saved-filters.ts'
import { indexQuery } from './search.ts'

/** Returns what the index looks for to find the records that rules hide. */
export function toQueries(hiding: readonly SavedFilters[]): readonly IndexQuery[] {
  return hiding.flatMap((saved) => {
    const filters = readRuleFilters(saved)
    return filters === undefined ? [] : indexQuery(filters, ANY_TIME)
  })
}
