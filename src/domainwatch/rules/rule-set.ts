import { parseParameters, type Values } from '../../http/parameters.ts'
import { FilterContext } from '../filter-context.ts'
import { filterParameters, letsThrough, readFilters, type FilteredRecord, type Filters } from '../filters.ts'
import { parseSavedFilters, type SavedFilters } from '../saved-filters.ts'
import type { ActiveRule } from './queries.ts'

const {
  hidden: _hidden,
  seen: _seen,
  age_min: _age,
  objection: _objection,
  demand_min: _demand,
  twin: _twin,
  ...ofRecords
} = filterParameters

/**
 * The filters of rules: those whose answer changes with the record alone. What a rule hides must not depend on the time, on other rules
 * or records, nor on who has looked at it.
 */
export const ruleFilters = ofRecords

/** What the other parameters are read as. */
const NOT_GIVEN = {
  hidden: undefined,
  seen: undefined,
  age_min: undefined,
  objection: undefined,
  demand_min: undefined,
  twin: undefined,
}
/** The filters that rules do not take. */
export const NOT_IN_RULES: readonly string[] = Object.keys(NOT_GIVEN)

/** @throws HttpError 400 for `agent` without `search` */
export const toFilters = (values: Values<typeof ruleFilters>): Filters =>
  readFilters({ ...values, ...NOT_GIVEN })

/** Reads the filters of a rule. Returns undefined for those of another version that this one rejects. */
export function readRuleFilters(saved: SavedFilters): Filters | undefined {
  const parsed = parseParameters(ruleFilters, saved)
  return parsed.ok ? toFilters(parsed.values) : undefined
}

/** No filter of a rule looks at the time or at other records, and a rule matches a discarded record as long as there is one. */
export const ANY_TIME = new FilterContext(Number.NEGATIVE_INFINITY, 'UTC', {
  getDemand: () => null,
  hasBoughtTwin: () => false,
  firstTwins: () => [],
})

interface TagRule {
  readonly tag: string
  readonly filters: Filters
}

/** What the rules do at one moment, compiled. A rule that this version cannot read does nothing. */
export class RuleSet {
  /** Grows with each change of the rules. */
  readonly version: number
  /** The filters of the rules that hide records. */
  readonly hiding: readonly SavedFilters[]
  readonly #hidden: readonly Filters[]
  readonly #tagging: readonly TagRule[]

  constructor(version: number, rules: readonly ActiveRule[]) {
    this.version = version
    const saved = rules.map(({ filters, tag }) => ({ tag, read: parseSavedFilters(filters) }))
    this.hiding = saved.filter(({ tag }) => tag === null).map(({ read }) => read)
    this.#hidden = this.hiding.flatMap((read) => readRuleFilters(read) ?? [])
    this.#tagging = saved.flatMap(({ tag, read }) => {
      const filters = tag === null ? undefined : readRuleFilters(read)
      return tag === null || filters === undefined ? [] : { tag, filters }
    })
  }

  get hasTags(): boolean {
    return this.#tagging.length > 0
  }

  readonly hides = (record: FilteredRecord): boolean =>
    this.#hidden.some((filters) => letsThrough(filters, record, ANY_TIME))

  /** The tags that rules give to a record. */
  tagsFor(record: FilteredRecord): readonly string[] {
    return this.#tagging.flatMap(({ tag, filters }) => (letsThrough(filters, record, ANY_TIME) ? tag : []))
  }
}
