/** Worker-thread task: builds columns from texts of the database, and merges segments. */
import {
  mergeParts,
  UnsupportedValueError,
  type Columns,
  type Order,
  type SegmentPart,
} from '../../lib/name-index/index.ts'
import { aLabelOf } from '../../lib/domain-names.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import { columnsOfRecords, deltaOfChanges, type Delta } from '../list/load-records.ts'

export type Input =
  | { readonly kind: 'records'; readonly text: string; readonly count: number; readonly words: WordTrie }
  | {
      readonly kind: 'changes'
      readonly texts: readonly string[]
      readonly overlapping: boolean
      readonly words: WordTrie
    }
  | { readonly kind: 'merge'; readonly parts: readonly SegmentPart[]; readonly order: Order }

export type Output =
  | { readonly kind: 'records'; readonly columns: Readonly<Record<Order, Columns>> }
  | { readonly kind: 'changes'; readonly delta: Delta }
  | { readonly kind: 'merge'; readonly columns: Columns }
  /** The database contains a value that columns cannot hold. */
  | { readonly kind: 'unsupported'; readonly reason: string }

export default function work(input: Input): Output {
  try {
    switch (input.kind) {
      case 'records':
        return { kind: 'records', columns: columnsOfRecords(input.text, input.count, splitBy(input.words)) }
      case 'changes':
        return {
          kind: 'changes',
          delta: deltaOfChanges(input.texts, input.overlapping, splitBy(input.words)),
        }
      case 'merge':
        return { kind: 'merge', columns: mergeParts(input.parts, input.order, aLabelOf) }
    }
  } catch (error) {
    if (error instanceof UnsupportedValueError) return { kind: 'unsupported', reason: error.message }
    throw error
  }
}
