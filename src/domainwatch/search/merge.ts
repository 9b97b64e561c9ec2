import { buildColumns } from './build.ts'
import { Plane, type Columns } from './columns.ts'
import { Draft } from './draft.ts'
import type { Order } from './order.ts'
import { Segment } from './segment.ts'

/** A segment that is to be merged, and which of its records are still so. */
export interface MergePart {
  readonly columns: Columns
  readonly live: Uint32Array
}

/** A segment as it is at this moment. */
export const partOf = ({ columns, live }: Segment): MergePart => ({ columns, live: live.slice() })

/** One segment's columns in the place of several. */
export function merge(parts: readonly MergePart[], order: Order): Columns {
  const draft = new Draft(parts.reduce((sum, { columns }) => sum + columns.count, 0))
  for (const { columns, live } of parts) {
    // For what it tells of single records; its own live bits do not matter.
    const segment = new Segment(columns)
    const { names, starts } = columns
    for (let position = 0; position < columns.count; position++) {
      if (((live[position >>> 5] ?? 0) & (1 << (position & 31))) === 0) continue
      draft.copy(names, starts[position] ?? 0, starts[position + 1] ?? 0, {
        agent: columns.agents[columns.agent[position] ?? 0] ?? '',
        status: Number(segment.has(Plane.status, position)),
        reserved: Number(segment.has(Plane.reserved, position)),
        revision: Number(segment.has(Plane.revision, position)),
        discardedAt: segment.discardedAt(position),
        registered: columns.registered[position] ?? NaN,
        modified: columns.modified[position] ?? NaN,
        deleted: order === 'deleted' ? (columns.keys[position] ?? NaN) : NaN,
      })
    }
  }
  return buildColumns(draft, order)
}
