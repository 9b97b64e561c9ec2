import {
  isNumberOrder,
  toNumberKey,
  type EntryKey,
  type Hit,
  type NumberOrder,
} from '../../lib/name-index/index.ts'
import { NUMBER_KEY } from '../numbers.ts'
import { choice, type Parameter } from '../../http/parameters.ts'
import { type FilterContext, canObject, objectionsSince } from '../filtered-record.ts'
import type { Filters } from '../filters.ts'
import { RecordOfHit } from './hits.ts'
import type { Ranking } from '../tasks/scores.ts'

/** The columns that lists are sorted by. */
export type SortKey = 'date_reg' | 'deleted_at' | 'date_mod' | 'name' | 'length' | 'interest' | NumberOrder

/** The records that a list is made of, and their order. */
export type Source =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'registered' | 'deleted'
      readonly newest: number
      readonly range?: ListRange | undefined
    }

/** The records from one position to another, both included. */
export interface ListRange {
  readonly low: EntryKey
  readonly high: EntryKey
}

/** Whether a list is of all records, not of the newest registrations or deletions only. */
export const isOfAll = (sources: readonly Source[]): boolean => sources.every(({ kind }) => kind === 'all')

/** What a list may be sorted by. Ties are sorted by name. */
export const LIST_ORDERS = [
  'registered',
  'deleted',
  'modified',
  'name',
  'length',
  'objection',
  'interest',
] as const
type FixedOrder = (typeof LIST_ORDERS)[number]
export type ListOrder = FixedOrder | NumberOrder

/** One of `LIST_ORDERS`, or `num_` and the key of imported numbers. */
export function orderParameter(description: string): Parameter<ListOrder> {
  const fixed = choice(description, LIST_ORDERS)
  const isOfNumbers = (text: string): text is NumberOrder => IS_NUMBER_ORDER.test(text)
  return {
    ...fixed,
    schema: { type: 'string', anyOf: [{ enum: LIST_ORDERS }, { pattern: IS_NUMBER_ORDER.source }] },
    parse: (text) => {
      if (isOfNumbers(text)) return { value: text }
      const parsed = fixed.parse(text)
      return 'takes' in parsed ? { takes: `${parsed.takes}, o num_ y una clave` } : parsed
    },
  }
}
const IS_NUMBER_ORDER = new RegExp(`^num_${NUMBER_KEY}$`)

/** What cursors call a stage. The stages of a list in its default order have no name. */
const STAGE_NAMES = [...LIST_ORDERS, 'bought', 'unobjectionable'] as const
export type StageName = (typeof STAGE_NAMES)[number] | NumberOrder | `without_${NumberOrder}`

const NUMBER_STAGE = new RegExp(`^(without_)?num_${NUMBER_KEY}$`)
const isNumberStage = (name: string): name is NumberOrder | `without_${NumberOrder}` =>
  NUMBER_STAGE.test(name)

export const toStageName = (name = ''): StageName | undefined =>
  isNumberStage(name) ? name : STAGE_NAMES.find((one) => one === name)

/** A part of a list that is sorted by one key; a list is its stages, one after the other. */
export interface Stage {
  readonly name: StageName | undefined
  readonly sources: readonly Source[]
  readonly sortKey: SortKey
  /** Only records after this position. */
  readonly after: EntryKey | undefined
  /** Which records of its sources it has; all by default. */
  readonly has?: (hit: Hit) => boolean
  /** The earliest registration that it can have: the index has a range of them. */
  readonly since?: string | undefined
  /** The time that decides that: the first page's, in milliseconds since 1970. */
  readonly decidedAt?: number
  /** The model that decides their order: the first page's, by its id. */
  readonly model?: string | undefined
}

/** The only place that says what each order sorts by. */
const SORT_KEYS = {
  registered: 'date_reg',
  deleted: 'deleted_at',
  modified: 'date_mod',
  name: 'name',
  length: 'length',
  // The end of the time for objections follows from it.
  objection: 'date_reg',
  interest: 'interest',
} as const satisfies Readonly<Record<FixedOrder, SortKey>>

/** Records that lack what an order sorts by, such as bought ones the date of deletion, follow by this one. */
const REST_SORT_KEY = 'date_reg'

/** A page of a list. */
export interface Listing {
  /** Sources of all stages. */
  readonly sources: readonly Source[]
  readonly filters: Filters
  readonly order: ListOrder
  readonly ascending: boolean
  /** Only records after this position, which is in the stage of this name. */
  readonly after?: EntryKey | undefined
  readonly stage?: StageName | undefined
  readonly limit: number
  readonly context: FilterContext
  /** In the order by interest. */
  readonly ranking?: Ranking | undefined
  /** The context of the first page, if it decides in which stage a record is. */
  readonly first?: FilterContext | undefined
}

export function defaultOrder(sources: readonly Source[]): ListOrder {
  return sources.every(({ kind }) => kind === 'deleted') ? 'deleted' : 'registered'
}

/**
 * Whether the first page of several has to fix the range of a source, from which all pages are drawn: a record that is added in
 * between must not push another out.
 */
export function needsRange(
  source: Source,
  { sources, limit }: Listing,
): source is Exclude<Source, { kind: 'all' }> {
  const newest = sources.reduce((sum, one) => sum + (one.kind === 'all' ? 0 : one.newest), 0)
  return source.kind !== 'all' && source.range === undefined && newest > limit
}

/** The stages that a page is drawn from. @param sources those of the listing, perhaps with ranges */
export function stagesFrom(listing: Listing, sources: readonly Source[]): readonly Stage[] {
  const { order, after, context, first = context, ranking } = listing
  const stages = toStages(order, sources, first)
  const start = after === undefined ? 0 : stages.findIndex(({ name }) => name === listing.stage)
  return stages
    .slice(Math.max(0, start))
    .map((stage, i) => ({ ...stage, model: ranking?.model.id, after: i === 0 ? after : undefined }))
    .filter((stage) => stage.sources.length > 0)
}

/**
 * In the order by deletion, records that are bought follow all that were deleted, in both directions, by
 * registration, so that none is lost. In the order by objection, so do those to which one cannot object, and in an order by
 * numbers those without one.
 * @param first the context of the first page
 */
function toStages(order: ListOrder, sources: readonly Source[], first?: FilterContext): readonly Stage[] {
  if (order === 'objection') {
    const since = first && objectionsSince(first.localNow)
    const canBe = (hit: Hit) => since !== undefined && canObject(new RecordOfHit(hit), since)
    const stage = {
      sources,
      sortKey: SORT_KEYS[order],
      after: undefined,
      ...(first && { decidedAt: first.now }),
    }
    return [
      { ...stage, name: order, has: canBe, since },
      { ...stage, name: 'unobjectionable', has: (hit) => !canBe(hit) },
    ]
  }
  if (isNumberOrder(order)) {
    const lacks = ({ segment, position }: Hit) =>
      Number.isNaN(segment.importedNumber(toNumberKey(order), position))
    const stage = { sources, after: undefined }
    return [
      { ...stage, name: order, sortKey: order, has: (hit) => !lacks(hit) },
      { ...stage, name: `without_${order}`, sortKey: REST_SORT_KEY, has: lacks },
    ]
  }
  const isDefault = order === defaultOrder(sources)
  if (isDefault || order !== 'deleted')
    return [{ name: isDefault ? undefined : order, sources, sortKey: SORT_KEYS[order], after: undefined }]
  return [
    { name: 'deleted', sources: toSources(sources, 'deleted'), sortKey: SORT_KEYS.deleted, after: undefined },
    { name: 'bought', sources: toSources(sources, 'registered'), sortKey: REST_SORT_KEY, after: undefined },
  ]
}

/** Whether a cursor with a position in this stage belongs to a list of this order. */
export function isStageOf(
  stage: StageName | undefined,
  order: ListOrder,
  sources: readonly Source[],
): boolean {
  return toStages(order, sources).some(({ name }) => name === stage)
}

const toSources = (sources: readonly Source[], kind: 'registered' | 'deleted'): readonly Source[] =>
  sources.filter((source) => source.kind === 'all' || source.kind === kind)
