/** Worker-thread task: builds columns from texts of the database, and merges segments. */
import { buildColumns } from '../search/build.ts'
import type { Columns } from '../search/columns.ts'
import { Draft, Unfit } from '../search/draft.ts'
import { merge, type MergePart } from '../search/merge.ts'
import type { Order } from '../search/order.ts'
import { readChanges, type Delta } from '../search/read-changes.ts'
import { readRows } from '../search/read-rows.ts'

export type Input =
  | { readonly kind: 'rows'; readonly text: string; readonly count: number }
  | { readonly kind: 'changes'; readonly texts: readonly string[]; readonly overlapping: boolean }
  | { readonly kind: 'merge'; readonly parts: readonly MergePart[]; readonly order: Order }

export type Output =
  | { readonly kind: 'rows'; readonly columns: Readonly<Record<Order, Columns>> }
  | { readonly kind: 'changes'; readonly delta: Delta }
  | { readonly kind: 'merge'; readonly columns: Columns }
  /** The database contains a value that columns cannot hold. */
  | { readonly kind: 'unfit'; readonly reason: string }

export default function work(input: Input): Output {
  try {
    switch (input.kind) {
      case 'rows': {
        const draft = new Draft(input.count)
        readRows(input.text, draft)
        const columns = {
          registered: buildColumns(draft, 'registered'),
          deleted: buildColumns(draft, 'deleted'),
        }
        return { kind: 'rows', columns }
      }
      case 'changes':
        return { kind: 'changes', delta: readChanges(input.texts, input.overlapping) }
      case 'merge':
        return { kind: 'merge', columns: merge(input.parts, input.order) }
    }
  } catch (error) {
    if (error instanceof Unfit) return { kind: 'unfit', reason: error.message }
    throw error
  }
}
