import { buildColumns } from './build.ts'
import type { Columns } from './columns.ts'
import { Draft, Unfit } from './draft.ts'
import { momentOf } from './moment.ts'
import { ORDERS, type Order } from './order.ts'

/** Records as they were: where they stand in the lists. */
export interface Places {
  readonly names: string[]
  readonly keys: number[]
}

/** What changes make of the lists: records that come, and places from which those that were there go. */
export interface Delta {
  readonly added: Readonly<Record<Order, Columns>>
  readonly removed: Readonly<Record<Order, Places>>
}

/** As the log of changes keeps a record: its fields in the order of the log. */
type State = readonly [
  agent: string,
  status: number,
  reserved: number,
  revision: number,
  discardedAt: number | null,
  dateReg: string,
  dateMod: string,
  releasedAt: string | null,
]
type ChangeText = readonly [name: string, before: State | null, after: State | null]

/**
 * @param texts JSON of changes in their order, as `changesAsText` puts it
 * @param overlapping whether lists may hold a record in a state that is only still to come: they were read while others
 *   wrote. It is then taken out as soon as the change that made it comes along.
 * @throws Unfit
 */
export function readChanges(texts: readonly string[], overlapping: boolean): Delta {
  const latest = new Map<string, State | null>()
  const removed: Record<Order, Places> = {
    registered: { names: [], keys: [] },
    deleted: { names: [], keys: [] },
  }
  for (const text of texts) {
    const changes: readonly ChangeText[] = JSON.parse(`[${text}]`)
    for (const [name, before, after] of changes) {
      // A state from between two of these changes never came into the lists.
      if (overlapping || !latest.has(name)) remove(removed, name, before)
      if (overlapping) remove(removed, name, after)
      latest.set(name, after)
    }
  }
  const draft = new Draft(latest.size)
  for (const [name, state] of latest) {
    if (state === null) continue
    const [agent, status, reserved, revision, discardedAt, dateReg, dateMod] = state
    draft.add({
      name,
      agent,
      status: bit(status),
      reserved: bit(reserved),
      revision: bit(revision),
      discardedAt: discardedAt ?? NaN,
      registered: moment(dateReg),
      modified: moment(dateMod),
      deleted: keyIn('deleted', state),
    })
  }
  return {
    added: { registered: buildColumns(draft, 'registered'), deleted: buildColumns(draft, 'deleted') },
    removed,
  }
}

function remove(removed: Readonly<Record<Order, Places>>, name: string, state: State | null): void {
  if (state === null) return
  for (const order of ORDERS) {
    const key = keyIn(order, state)
    if (Number.isNaN(key)) continue
    removed[order].names.push(name)
    removed[order].keys.push(key)
  }
}

/** By what a record is sorted in a list; NaN where it is not in it. */
function keyIn(order: Order, [, status, , , , dateReg, , releasedAt]: State): number {
  if (order === 'registered') return moment(dateReg)
  return status === 0 ? moment(releasedAt ?? dateReg) : NaN
}

function moment(text: string): number {
  const moment = text.length === 19 ? momentOf(text) : NaN
  if (Number.isNaN(moment)) throw new Unfit('a date that is none')
  return moment
}

function bit(value: number): number {
  if (value !== 0 && value !== 1) throw new Unfit('a mark that is neither 0 nor 1')
  return value
}
