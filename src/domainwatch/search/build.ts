import { encodePunycode } from '../../lib/punycode.ts'
import { BLOCK, Plane, set, shared, type ALabels, type Columns } from './columns.ts'
import type { Draft } from './draft.ts'
import { indexNames, postings } from './blocks.ts'
import { sorted, type Order } from './order.ts'
import { PLANES } from './signatures.ts'

/** The records of a draft that a list of this order shows, as columns. */
export function buildColumns(draft: Draft, order: Order): Columns {
  const places = sorted(draft, order)
  const count = places.length
  const words = Math.ceil(count / BLOCK)
  const { names, starts } = takeNames(draft, places)
  const planes = shared.u32(PLANES * words)
  const keys = shared.f64(count)
  const registered = order === 'registered' ? keys : shared.f64(count)
  const modified = shared.f64(count)
  const agent = shared.u32(count)
  const discarded: number[] = []
  const discardedAt: number[] = []
  const idn: number[] = []
  for (let position = 0; position < count; position++) {
    const place = places[position] ?? 0
    keys[position] = draft[order][place] ?? NaN
    registered[position] = draft.registered[place] ?? NaN
    modified[position] = draft.modified[place] ?? NaN
    agent[position] = draft.agent[place] ?? 0
    const at = draft.discardedAt[place] ?? NaN
    const isDiscarded = !Number.isNaN(at)
    if (isDiscarded) {
      discarded.push(position)
      discardedAt.push(at)
    }
    const start = starts[position] ?? 0
    const end = starts[position + 1] ?? 0
    const traits = traitsOf(names, start, end)
    if ((traits & (1 << Plane.idn)) !== 0) idn.push(position)
    const marks = (draft.marks[place] ?? 0) | (isDiscarded ? 1 << Plane.discarded : 0)
    let bits = marks | traits
    for (let plane = 0; bits !== 0; plane++, bits >>>= 1) {
      if ((bits & 1) !== 0) set(planes, plane * words + (position >>> 5), 1 << (position & 31))
    }
  }
  return {
    count,
    names,
    starts,
    keys,
    registered,
    modified,
    agent,
    agents: draft.agents,
    agentBlocks: postings(draft.agents.length, agent),
    planes,
    discarded: { positions: copied(shared.u32, discarded), at: copied(shared.f64, discardedAt) },
    aLabels: aLabelsOf(names, starts, idn),
    blocks: indexNames(names, starts, planes),
  }
}

function takeNames(draft: Draft, places: Uint32Array): Pick<Columns, 'names' | 'starts'> {
  const starts = shared.u32(places.length + 1)
  let end = 0
  for (let position = 0; position < places.length; position++) {
    const place = places[position] ?? 0
    end += (draft.starts[place + 1] ?? 0) - (draft.starts[place] ?? 0)
    starts[position + 1] = end
  }
  const names = shared.u8(end)
  let to = 0
  for (const place of places) {
    const last = draft.starts[place + 1] ?? 0
    for (let from = draft.starts[place] ?? 0; from < last; from++) names[to++] = draft.names[from] ?? 0
  }
  return { names, starts }
}

/** The bits of the planes that follow from a name. */
function traitsOf(names: Uint8Array, start: number, end: number): number {
  let traits = 0
  for (let at = start; at < end; at++) {
    const code = names[at] ?? 0
    if (code === 0x2d) traits |= 1 << Plane.hyphen
    else if (code <= 0x39) traits |= 1 << Plane.digits
    else if (code > 0x7f) traits |= 1 << Plane.idn
  }
  return traits
}

function aLabelsOf(names: Uint8Array, starts: Uint32Array, positions: readonly number[]): ALabels {
  const text = Buffer.from(names.buffer)
  const labels = positions.map(
    (position) => `xn--${encodePunycode(text.toString('latin1', starts[position], starts[position + 1]))}`,
  )
  const ends = [0]
  for (const label of labels) ends.push((ends.at(-1) ?? 0) + label.length)
  const bytes = shared.u8(ends.at(-1) ?? 0)
  Buffer.from(bytes.buffer).write(labels.join(''), 'latin1')
  return { positions: copied(shared.u32, positions), bytes, starts: copied(shared.u32, ends) }
}

function copied<T extends Uint32Array | Float64Array>(
  make: (length: number) => T,
  values: readonly number[],
): T {
  const array = make(values.length)
  array.set(values)
  return array
}
