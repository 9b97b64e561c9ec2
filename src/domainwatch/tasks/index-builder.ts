/** Builds the columns of the list index from texts of the database, merges segments, and finds records that rules hide. */
import { fileURLToPath } from 'node:url'
import {
  anyMatches,
  toColumns,
  isIndexable,
  mergeParts,
  type Columns,
  type EntryKeys,
  type IndexedRecord,
  type Marks,
  type Order,
  type SegmentPart,
} from '../../lib/name-index/index.ts'
import { BACKGROUND_TASK_TIMEOUT_MS, type Tasks } from '../../lib/tasks.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import { namedFields } from '../../storage/database/changes/change.ts'
import { changedRecord, type FilteredRecord } from '../filtered-record.ts'
import { LAYOUT, type SavedFilters } from '../filters.ts'
import { toQueries } from '../list/search.ts'
import { indexedRecord, optionsFor, toTimestamp } from '../list/hits.ts'
import type { RuleSet } from '../rules/index.ts'
import type { Dictionary, SplitName } from '../words.ts'

/** This many changes are parsed on the event loop, in some milliseconds; more are parsed in another thread. */
const SMALL_DELTA = 300

/** This many records are compared with the rules on the event loop. */
const SMALL_SEGMENT = 1_000

/** Builds columns in another thread, small ones on the event loop. */
export class IndexBuilder {
  readonly #tasks: Tasks
  readonly #dictionary: Dictionary

  constructor(tasks: Tasks, dictionary: Dictionary) {
    this.#tasks = tasks
    this.#dictionary = dictionary
  }

  records(text: string): Promise<Output['records']> {
    return this.#build({ kind: 'records', text, words: this.#dictionary.trie })
  }

  async changes(text: string, count: number, overlapping: boolean): Promise<Delta> {
    const { split, trie } = this.#dictionary
    if (count <= SMALL_DELTA) return deltaOfChanges(text, overlapping, split)
    return this.#build({ kind: 'changes', text, overlapping, words: trie })
  }

  merged(parts: readonly SegmentPart[], order: Order): Promise<Columns> {
    return this.#build({ kind: 'merge', parts, order })
  }

  /** Returns which records the rules hide. */
  async marks(columns: Columns, { version, hiding }: RuleSet): Promise<Marks> {
    if (hiding.length === 0) return { version, bits: new Uint32Array(0) }
    const isSmall = columns.count <= SMALL_SEGMENT
    const bits = isSmall
      ? anyMatches(columns, toQueries(hiding))
      : await this.#build({ kind: 'hidden', columns, hiding })
    return { version, bits }
  }

  #build<Kind extends keyof Output>(input: Input & { readonly kind: Kind }): Promise<Output[Kind]> {
    // Callers that wait for changes have a shorter timeout of their own.
    return this.#tasks.run<Input, Output[Kind]>(fileURLToPath(import.meta.url), input, {
      timeoutMs: BACKGROUND_TASK_TIMEOUT_MS,
    })
  }
}

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
interface Delta {
  readonly added: BuiltRecords
  readonly removed: Readonly<Record<Order, EntryKeys>>
}

type ChangeText = readonly [name: string, before: State | null, after: State | null]

/**
 * @param text JSON of changes, those of each record in their order, as `unseenAsText` formats it
 * @param overlapping whether lists may contain a record in a later state already, because they were read while others wrote.
 *   Such an entry is removed when the change that made it comes.
 */
function deltaOfChanges(text: string, overlapping: boolean, split: SplitName): Delta {
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

type Input =
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
interface Output {
  readonly records: BuiltRecords
  readonly changes: Delta
  readonly merge: Columns
  /** A bit per record. */
  readonly hidden: Uint32Array
}

/** Worker-thread task. */
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
