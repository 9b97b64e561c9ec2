import type { EntryKey, Hit } from '../../lib/name-index/index.ts'
import { isStorable } from '../../lib/text.ts'
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
