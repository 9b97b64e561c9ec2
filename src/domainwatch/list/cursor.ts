import {
  formatTimestamp,
  isNumberOrder,
  parseTimestamp,
  TIMESTAMP_LENGTH,
  type EntryKey,
  type Hit,
} from '../../lib/name-index/index.ts'
import { isStorable } from '../../lib/text.ts'
import { MAX_SCORE } from '../interest/model.ts'
import { toStageName, type ListRange, type Source, type Stage, type StageName } from './order.ts'

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

/** Digits of the numbers by which stages are sorted. The others are sorted by dates. */
const DIGITS: Readonly<Partial<Record<StageName, number>>> = {
  name: 0,
  length: 2,
  interest: String(MAX_SCORE).length,
}

/** A position as text: the date or the number by which the stage is sorted, nothing if that is the name, then the name. */
function formatPosition({ key, name }: EntryKey, stage?: StageName): string {
  if (isNumberOrder(stage)) return `${key} ${Buffer.from(name).toString('latin1')}`
  const digits = stage && DIGITS[stage]
  const number = digits === 0 ? '' : String(key).padStart(digits ?? 0, '0')
  const text = digits === undefined ? formatTimestamp(key) : number
  return text + Buffer.from(name).toString('latin1')
}

/** Undefined if no record can be there. */
function parsePosition(text: string, stage?: StageName): EntryKey | undefined {
  if (isNumberOrder(stage)) return parseNumberPosition(text)
  const digits = stage && DIGITS[stage]
  const keyText = text.slice(0, digits ?? TIMESTAMP_LENGTH)
  const isNumber = keyText.length === digits && /^\d*$/.test(keyText)
  const key = digits === undefined ? parseTimestamp(text) : isNumber ? Number(keyText) : NaN
  const name = text.slice(keyText.length)
  if (Number.isNaN(key) || name === '' || /[^\0-\xff]/.test(name)) return undefined
  return { key, name: new Uint8Array(Buffer.from(name, 'latin1')) }
}

/** The same of a stage that is sorted by imported numbers. */
function parseNumberPosition(text: string): EntryKey | undefined {
  const [, number = '', name = ''] = /^(\S+) ([\0-\xff]+)$/.exec(text) ?? []
  if (number === '' || String(Number(number)) !== number) return undefined
  return { key: Number(number), name: new Uint8Array(Buffer.from(name, 'latin1')) }
}

/** Encodes a cursor; opaque to clients. */
export function encodeCursor(cursor: ListCursor): string {
  const { after, stage, registered, deleted, decidedAt, model } = cursor
  const ends = [registered?.low, registered?.high, deleted?.low, deleted?.high]
  const texts = [
    formatPosition(after, stage),
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
  const after = parsePosition(start, stage)
  const ends = rest.map((part) => (part === '' ? undefined : (parsePosition(part) ?? 'none')))
  if (
    // Decoding ignores foreign characters and unused bits: only the exact text that was issued is a cursor.
    Buffer.from(text).toString('base64url') !== cursor ||
    !isStorable(text) ||
    ends.length !== RANGE_ENDS ||
    stage !== stageName ||
    superfluous.length > 0 ||
    !isDecisionOf(stage, decision) ||
    after === undefined
  )
    return undefined
  const [registeredLow, registeredHigh, deletedLow, deletedHigh] = ends
  const ranges = [rangeOf(registeredLow, registeredHigh), rangeOf(deletedLow, deletedHigh)] as const
  const [registered, deleted] = ranges
  if (registered === 'none' || deleted === 'none') return undefined
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

type RangeEnd = EntryKey | 'none' | undefined

function rangeOf(low: RangeEnd, high: RangeEnd): ListRange | 'none' | undefined {
  if (low === 'none' || high === 'none') return 'none'
  return low === undefined || high === undefined ? undefined : { low, high }
}
