/** Worker-thread task: builds columns from texts of the database, merges segments, and finds records that rules hide. */
import {
  anyMatches,
  toColumns,
  isIndexable,
  mergeParts,
  type Columns,
  type EntryKeys,
  type IndexedRecord,
  type Order,
  type SegmentPart,
} from '../../lib/name-index/index.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import { namedFields } from '../../storage/database/changes/change.ts'
import { changedRecord, type FilteredRecord } from '../filtered-record.ts'
import { LAYOUT, type SavedFilters } from '../filters.ts'
import { toQueries } from '../list/search.ts'
import { indexedRecord, optionsFor, toTimestamp } from '../list/hits.ts'
import type { SplitName } from '../words.ts'

/** The fields of a record in the order of `DOMAIN_FIELDS`. */
type State = readonly (string | number | null)[]

/** Records in both orders. Some that the service did not write itself cannot be indexed. */
export interface BuiltRecords {
  readonly columns: Readonly<Record<Order, Columns>>
  /** Names of records that were left out. */
  readonly skipped: readonly string[]
}

function inBothOrders(records: readonly IndexedRecord[]): BuiltRecords {
  const canBeIndexed = (record: IndexedRecord) => isIndexable(record, LAYOUT)
  const skipped = records.filter((record) => !canBeIndexed(record))
  const indexed = skipped.length === 0 ? records : records.filter(canBeIndexed)
  return {
    columns: {
      registered: toColumns(indexed, optionsFor('registered')),
      deleted: toColumns(indexed, optionsFor('deleted')),
    },
    skipped: skipped.map(({ name }) => name),
  }
}

/** @param text of `recordsAsText` */
function builtRecords(text: string, split: SplitName): BuiltRecords {
  const read: readonly (readonly [name: string, state: State])[] = JSON.parse(`[${text}]`)
  return inBothOrders(read.map(([name, state]) => indexedRecord(toRecord(name, state, split))))
}

function toRecord(name: string, state: State, split: SplitName): FilteredRecord {
  return changedRecord(name, namedFields('domain', state), split)
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
  const remove = (name: string, state: State | null) => {
    if (state === null) return
    const { date_reg, deleted_at } = toRecord(name, state, split)
    addKey(removed.registered, name, date_reg)
    if (deleted_at !== null) addKey(removed.deleted, name, deleted_at)
  }
  const changes: readonly ChangeText[] = JSON.parse(`[${text}]`)
  for (const [name, before, after] of changes) {
    // An intermediate state was never in the lists.
    if (overlapping || !latest.has(name)) remove(name, before)
    if (overlapping) remove(name, after)
    latest.set(name, after)
  }
  const records: IndexedRecord[] = []
  for (const [name, state] of latest)
    if (state !== null) records.push(indexedRecord(toRecord(name, state, split)))
  return { added: inBothOrders(records), removed }
}

function addKey({ names, keys }: EntryKeys, name: string, date: string): void {
  const key = toTimestamp(date)
  if (Number.isNaN(key)) return
  names.push(name)
  keys.push(key)
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
  | { readonly kind: 'hidden'; readonly columns: Columns; readonly hiding: readonly SavedFilters[] }

/** What each kind of input is built into. */
export interface Output {
  readonly records: BuiltRecords
  readonly changes: Delta
  readonly merge: Columns
  /** A bit per record. */
  readonly hidden: Uint32Array
}

export default function work(input: Input): Output[Input['kind']] {
  switch (input.kind) {
    case 'records':
      return builtRecords(input.text, splitBy(input.words))
    case 'changes':
      return deltaOfChanges(input.text, input.overlapping, splitBy(input.words))
    case 'merge':
      return mergeParts(input.parts, optionsFor(input.order))
    case 'hidden':
      return anyMatches(input.columns, toQueries(input.hiding))
  }
}
