/** Worker-thread task: builds columns from texts of the database, and merges segments. */
import {
  mergeParts,
  UnsupportedValueError,
  type Columns,
  type Order,
  type SegmentPart,
  columnsOf,
  type IndexedRecord,
  ORDERS,
  parseTimestamp,
  TIMESTAMP_LENGTH,
  type EntryKeys,
} from '../../lib/name-index/index.ts'
import { aLabelOf } from '../../lib/domain-names.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import type { SplitName } from '../words/dictionary.ts'

/** @throws UnsupportedValueError */
function inBothOrders(records: readonly IndexedRecord[]): Readonly<Record<Order, Columns>> {
  return {
    registered: columnsOf(records, 'registered', aLabelOf),
    deleted: columnsOf(records, 'deleted', aLabelOf),
  }
}

const TAB = '\t'
const END_OF_LINE = '\n'
const MARKS = 4

/**
 * Parses the lines of `recordsAsText`: name, tab, status, reserved, revision and seen (a digit each), date_reg, date_mod,
 * deleted_at if there is one, tab, discarded_at if there is one, tab, tags if there are any, tab, the agent in JSON.
 */
function readLines(text: string, split: SplitName): readonly IndexedRecord[] {
  const records: IndexedRecord[] = []
  const agents = new Map<string, string>()
  for (let at = 0; at < text.length;) {
    const nameEnd = indexOf(text, TAB, at)
    const marks = nameEnd + 1
    const registered = marks + MARKS
    const modified = registered + TIMESTAMP_LENGTH
    const deleted = modified + TIMESTAMP_LENGTH
    const deletedEnd = indexOf(text, TAB, deleted)
    const discardedEnd = indexOf(text, TAB, deletedEnd + 1)
    const tagsEnd = indexOf(text, TAB, discardedEnd + 1)
    const lineEnd = indexOf(text, END_OF_LINE, tagsEnd)
    const quoted = text.slice(tagsEnd + 1, lineEnd)
    let agent = agents.get(quoted)
    if (agent === undefined) {
      agent = String(JSON.parse(quoted))
      agents.set(quoted, agent)
    }
    if (deletedEnd !== deleted && deletedEnd !== deleted + TIMESTAMP_LENGTH)
      throw new UnsupportedValueError('an invalid date')
    const name = text.slice(at, nameEnd)
    records.push({
      name,
      words: split(name),
      agent,
      status: bit(text.charCodeAt(marks) - 0x30),
      reserved: bit(text.charCodeAt(marks + 1) - 0x30),
      revision: bit(text.charCodeAt(marks + 2) - 0x30),
      discardedAt: discardedEnd === deletedEnd + 1 ? NaN : Number(text.slice(deletedEnd + 1, discardedEnd)),
      registered: parseTimestamp(text, registered),
      modified: parseTimestamp(text, modified),
      deleted: deletedEnd === deleted ? NaN : parseTimestamp(text, deleted),
      seen: bit(text.charCodeAt(marks + 3) - 0x30),
      tags: text.slice(discardedEnd + 1, tagsEnd),
    })
    at = lineEnd + 1
  }
  return records
}

function indexOf(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from)
  if (at < 0) throw new UnsupportedValueError('an invalid line')
  return at
}

function bit(value: number): number {
  if (value !== 0 && value !== 1) throw new UnsupportedValueError('a mark that is neither 0 nor 1')
  return value
}

/** The effect of changes on the lists: records to add, and keys of entries to remove. */
export interface Delta {
  readonly added: Readonly<Record<Order, Columns>>
  readonly removed: Readonly<Record<Order, EntryKeys>>
}

/** A record in the log of changes: its fields in the order of the log. Changes of earlier versions end before `seenAt`. */
type State = readonly [
  agent: string,
  status: number,
  reserved: number,
  revision: number,
  discardedAt: number | null,
  dateReg: string,
  dateMod: string,
  releasedAt: string | null,
  seenAt?: number | null,
  seenBy?: string | null,
  note?: string | null,
  tags?: string | null,
]
type ChangeText = readonly [name: string, before: State | null, after: State | null]

/**
 * @param texts JSON of changes in their order, as `changesAsText` formats it
 * @param overlapping whether lists may contain a record in a later state already, because they were read while others wrote.
 *   Such an entry is removed when the change that made it comes.
 * @throws UnsupportedValueError
 */
export function deltaOfChanges(texts: readonly string[], overlapping: boolean, split: SplitName): Delta {
  const latest = new Map<string, State | null>()
  const removed: Record<Order, EntryKeys> = {
    registered: { names: [], keys: [] },
    deleted: { names: [], keys: [] },
  }
  for (const text of texts) {
    const changes: readonly ChangeText[] = JSON.parse(`[${text}]`)
    for (const [name, before, after] of changes) {
      // An intermediate state was never in the lists.
      if (overlapping || !latest.has(name)) remove(removed, name, before)
      if (overlapping) remove(removed, name, after)
      latest.set(name, after)
    }
  }
  const records: IndexedRecord[] = []
  for (const [name, state] of latest) {
    if (state === null) continue
    const [agent, status, reserved, revision, discardedAt, dateReg, dateMod, , seenAt, , , tags] = state
    records.push({
      name,
      words: split(name),
      agent,
      status: bit(status),
      reserved: bit(reserved),
      revision: bit(revision),
      discardedAt: discardedAt ?? NaN,
      registered: timestampOf(dateReg),
      modified: timestampOf(dateMod),
      deleted: keyIn('deleted', state),
      seen: typeof seenAt === 'number' ? 1 : 0,
      tags: tags ?? '',
    })
  }
  return { added: inBothOrders(records), removed }
}

function remove(removed: Readonly<Record<Order, EntryKeys>>, name: string, state: State | null): void {
  if (state === null) return
  for (const order of ORDERS) {
    const key = keyIn(order, state)
    if (Number.isNaN(key)) continue
    removed[order].names.push(name)
    removed[order].keys.push(key)
  }
}

/** The sort key of a record in a list; NaN if it is not in it. */
function keyIn(order: Order, [, status, , , , dateReg, , releasedAt]: State): number {
  if (order === 'registered') return timestampOf(dateReg)
  return status === 0 ? timestampOf(releasedAt ?? dateReg) : NaN
}

function timestampOf(text: string): number {
  const timestamp = text.length === 19 ? parseTimestamp(text) : NaN
  if (Number.isNaN(timestamp)) throw new UnsupportedValueError('an invalid date')
  return timestamp
}

export type Input =
  | { readonly kind: 'records'; readonly text: string; readonly words: WordTrie }
  | {
      readonly kind: 'changes'
      readonly texts: readonly string[]
      readonly overlapping: boolean
      readonly words: WordTrie
    }
  | { readonly kind: 'merge'; readonly parts: readonly SegmentPart[]; readonly order: Order }

/** What each kind of input is built into. */
export interface Built {
  readonly records: Readonly<Record<Order, Columns>>
  readonly changes: Delta
  readonly merge: Columns
}

/** `unsupported`: the database contains a value that columns cannot hold. */
export type Output<Value> =
  | { readonly kind: 'built'; readonly value: Value }
  | { readonly kind: 'unsupported'; readonly reason: string }

export default function work(input: Input): Output<Built[Input['kind']]> {
  try {
    return { kind: 'built', value: built(input) }
  } catch (error) {
    if (error instanceof UnsupportedValueError) return { kind: 'unsupported', reason: error.message }
    throw error
  }
}

function built(input: Input): Built[Input['kind']] {
  switch (input.kind) {
    case 'records':
      return inBothOrders(readLines(input.text, splitBy(input.words)))
    case 'changes':
      return deltaOfChanges(input.texts, input.overlapping, splitBy(input.words))
    case 'merge':
      return mergeParts(input.parts, input.order, aLabelOf)
  }
}
