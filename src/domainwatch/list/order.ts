import {
  isNumberOrder,
  toNumberKey,
  type EntryKey,
  type Hit,
  type NumberOrder,
} from '../../lib/name-index/index.ts'
import { NUMBER_KEY } from '../numbers.ts'
import { choice, type Parameter } from '../../http/parameters.ts'
import { isStorable } from '../../lib/text.ts'
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

const toStageName = (name = ''): StageName | undefined =>
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
function toStages(
  order: ListOrder,
  sources: readonly Source[],
  first?: FilterContext,
): readonly Omit<Stage, 'after'>[] {
  if (order === 'objection') {
    const since = first && objectionsSince(first.localNow)
    const canBe = (hit: Hit) => since !== undefined && canObject(new RecordOfHit(hit), since)
    const stage = { sources, sortKey: SORT_KEYS[order], ...(first && { decidedAt: first.now }) }
    return [
      { ...stage, name: order, has: canBe, since },
      { ...stage, name: 'unobjectionable', has: (hit) => !canBe(hit) },
    ]
  }
  if (isNumberOrder(order)) {
    const lacks = ({ segment, position }: Hit) =>
      Number.isNaN(segment.importedNumber(toNumberKey(order), position))
    return [
      { sources, name: order, sortKey: order, has: (hit) => !lacks(hit) },
      { sources, name: `without_${order}`, sortKey: REST_SORT_KEY, has: lacks },
    ]
  }
  const isDefault = order === defaultOrder(sources)
  if (isDefault || order !== 'deleted')
    return [{ name: isDefault ? undefined : order, sources, sortKey: SORT_KEYS[order] }]
  return [
    { name: 'deleted', sources: toSources(sources, 'deleted'), sortKey: SORT_KEYS.deleted },
    { name: 'bought', sources: toSources(sources, 'registered'), sortKey: REST_SORT_KEY },
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

/** Where the next page of a list begins. */
export interface ListCursor {
  readonly after: EntryKey
  /** The stage of the list that the position is in. */
  readonly stage?: StageName | undefined
  /** Under `last_register` and `last_deleted`: the range of the records as the first page found it. */
  readonly registered?: ListRange | undefined
  readonly deleted?: ListRange | undefined
  /** The time of the first page, if it decides in which stage a record is: milliseconds since 1970. */
  readonly decidedAt?: number | undefined
  /** The model of the first page, if it decides the order: its id. */
  readonly model?: string | undefined
}

/** Returns the cursor after a record of a stage. @param sources of all stages, with their ranges */
export function toCursor(
  sources: readonly Source[],
  after: EntryKey,
  { name, decidedAt, model }: Stage,
): ListCursor {
  const ranges: { registered?: ListRange; deleted?: ListRange } = {}
  for (const source of sources) {
    if (source.kind !== 'all' && source.range !== undefined) ranges[source.kind] = source.range
  }
  return { after, stage: name, decidedAt, model, ...ranges }
}

export interface ListPage {
  readonly items: readonly Hit[]
  /** Where the next page begins; undefined on the last one. */
  readonly next: ListCursor | undefined
}

/** A position as text: the number by which the stage is sorted, which dates are in the index too, and the name. */
const formatPosition = ({ key, name }: EntryKey): string => `${key} ${Buffer.from(name).toString('latin1')}`

/** Undefined if no record can be there. */
function parsePosition(text: string): EntryKey | undefined {
  const [, number = '', name = ''] = /^(\S+) ([\0-\xff]+)$/.exec(text) ?? []
  const key = Number(number)
  if (!Number.isFinite(key) || String(key) !== number) return undefined
  return { key, name: new Uint8Array(Buffer.from(name, 'latin1')) }
}

/** Encodes a cursor; opaque to clients. */
export function encodeCursor(cursor: ListCursor): string {
  const { after, stage, registered, deleted, decidedAt, model } = cursor
  const ends = [registered?.low, registered?.high, deleted?.low, deleted?.high]
  const texts = [
    formatPosition(after),
    ...ends.map((end) => (end === undefined ? '' : formatPosition(end))),
    ...(stage === undefined ? [] : [stage]),
    ...(decidedAt === undefined ? [] : [String(decidedAt)]),
    ...(model === undefined ? [] : [model]),
  ]
  return Buffer.from(texts.join('|')).toString('base64url')
}

/** The ends of the ranges of two lists. */
const RANGE_ENDS = 4

/** Undefined if `encodeCursor` did not make it. */
export function decodeCursor(cursor: string): ListCursor | undefined {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [start = '', ...rest] = text.split('|')
  const [stageName, decision, ...superfluous] = rest.splice(RANGE_ENDS)
  const stage = toStageName(stageName)
  const after = parsePosition(start)
  const ends = rest.map((part) => (part === '' ? undefined : parsePosition(part)))
  if (
    // Decoding ignores foreign characters and unused bits: only the exact text that was issued is a cursor.
    Buffer.from(text).toString('base64url') !== cursor ||
    !isStorable(text) ||
    ends.length !== RANGE_ENDS ||
    ends.some((end, i) => end === undefined && rest[i] !== '') ||
    stage !== stageName ||
    superfluous.length > 0 ||
    !isDecisionOf(stage, decision) ||
    after === undefined
  )
    return undefined
  const [registeredLow, registeredHigh, deletedLow, deletedHigh] = ends
  const registered = rangeOf(registeredLow, registeredHigh)
  const deleted = rangeOf(deletedLow, deletedHigh)
  const isModel = stage === 'interest'
  const decidedAt = isModel || decision === undefined ? undefined : Number(decision)
  return { after, stage, registered, deleted, decidedAt, model: isModel ? decision : undefined }
}

/** What a stage needs to know of the first page: its time, or the id of its model. */
function isDecisionOf(stage: StageName | undefined, text: string | undefined): boolean {
  if (stage === 'objection' || stage === 'unobjectionable') return /^\d{1,14}$/.test(text ?? '')
  if (stage === 'interest') return /^[0-9a-f]{16}$/.test(text ?? '')
  return text === undefined
}

const rangeOf = (low: EntryKey | undefined, high: EntryKey | undefined): ListRange | undefined =>
  low && high && { low, high }
