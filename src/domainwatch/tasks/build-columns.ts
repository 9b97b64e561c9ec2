/** Worker-thread task: builds columns from texts of the database, and merges segments. */
import {
  mergeParts,
  type Columns,
  type Order,
  type SegmentPart,
  columnsOf,
  type IndexedRecord,
  isIndexable,
  ORDERS,
  parseTimestamp,
  TIMESTAMP_LENGTH,
  type EntryKeys,
} from '../../lib/name-index/index.ts'
import { aLabelOf } from '../../lib/domain-names.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import type { SplitName } from '../words/dictionary.ts'

/** The fields of a record in the order of `DOMAIN_FIELDS`. Changes of earlier versions end before. */
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
  dateRegKnown?: number | null,
]

function recordOf(name: string, state: State, split: SplitName): IndexedRecord {
  const [agent, status, reserved, revision, discardedAt, dateReg, dateMod, , seenAt, , , tags, isKnown] =
    state
  return {
    name,
    words: split(name),
    agent,
    status,
    reserved,
    revision,
    discardedAt: discardedAt ?? NaN,
    registered: timestampOf(dateReg),
    modified: timestampOf(dateMod),
    deleted: keyIn('deleted', state),
    seen: typeof seenAt === 'number' ? 1 : 0,
    undated: isKnown === 0 ? 1 : 0,
    tags: tags ?? '',
  }
}

/** The sort key of a record in a list; NaN if it is not in it. */
function keyIn(order: Order, [, status, , , , dateReg, , releasedAt]: State): number {
  if (order === 'registered') return timestampOf(dateReg)
  return status === 0 ? timestampOf(releasedAt ?? dateReg) : NaN
}

const timestampOf = (text: string): number => (text.length === TIMESTAMP_LENGTH ? parseTimestamp(text) : NaN)

/** Records in both orders. Some that the service did not write itself cannot be indexed. */
export interface BuiltRecords {
  readonly columns: Readonly<Record<Order, Columns>>
  /** Names of records that were left out. */
  readonly skipped: readonly string[]
}

function inBothOrders(records: readonly IndexedRecord[]): BuiltRecords {
  const skipped = records.filter((record) => !isIndexable(record))
  const indexed = skipped.length === 0 ? records : records.filter(isIndexable)
  return {
    columns: {
      registered: columnsOf(indexed, 'registered', aLabelOf),
      deleted: columnsOf(indexed, 'deleted', aLabelOf),
    },
    skipped: skipped.map(({ name }) => name),
  }
}

/** @param text of `recordsAsText` */
function builtRecords(text: string, split: SplitName): BuiltRecords {
  const read: readonly (readonly [name: string, state: State])[] = JSON.parse(`[${text}]`)
  return inBothOrders(read.map(([name, state]) => recordOf(name, state, split)))
}

/** The effect of changes on the lists: records to add, and keys of entries to remove. */
export interface Delta {
  readonly added: BuiltRecords
  readonly removed: Readonly<Record<Order, EntryKeys>>
}

type ChangeText = readonly [name: string, before: State | null, after: State | null]

/**
 * @param text JSON of changes, those of each record in their order, as `unseenAsText` formats it
 * @param overlapping whether lists may contain a record in a later state already, because they were read while others wrote.
 *   Such an entry is removed when the change that made it comes.
 */
export function deltaOfChanges(text: string, overlapping: boolean, split: SplitName): Delta {
  const latest = new Map<string, State | null>()
  const removed: Record<Order, EntryKeys> = {
    registered: { names: [], keys: [] },
    deleted: { names: [], keys: [] },
  }
  const changes: readonly ChangeText[] = JSON.parse(`[${text}]`)
  for (const [name, before, after] of changes) {
    // An intermediate state was never in the lists.
    if (overlapping || !latest.has(name)) remove(removed, name, before)
    if (overlapping) remove(removed, name, after)
    latest.set(name, after)
  }
  const records: IndexedRecord[] = []
  for (const [name, state] of latest) if (state !== null) records.push(recordOf(name, state, split))
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

export type Input =
  | { readonly kind: 'records'; readonly text: string; readonly words: WordTrie }
  | {
      readonly kind: 'changes'
      readonly text: string
      readonly overlapping: boolean
      readonly words: WordTrie
    }
  | { readonly kind: 'merge'; readonly parts: readonly SegmentPart[]; readonly order: Order }

/** What each kind of input is built into. */
export interface Output {
  readonly records: BuiltRecords
  readonly changes: Delta
  readonly merge: Columns
}

export default function work(input: Input): Output[Input['kind']] {
  switch (input.kind) {
    case 'records':
      return builtRecords(input.text, splitBy(input.words))
    case 'changes':
      return deltaOfChanges(input.text, input.overlapping, splitBy(input.words))
    case 'merge':
      return mergeParts(input.parts, input.order, aLabelOf)
  }
}
