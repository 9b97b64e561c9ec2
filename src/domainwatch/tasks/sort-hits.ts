/** Worker-thread task: sorts all matches of an export. */
import { sortAll, type Selected, type SortedOrder } from '../../lib/name-index/index.ts'

export interface Input {
  readonly parts: readonly Selected[]
  readonly order: SortedOrder
  readonly descending: boolean
}

export default function work({ parts, order, descending }: Input): Uint32Array {
  return sortAll(parts, order, descending)
}
