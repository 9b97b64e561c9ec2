import { setImmediate as breathe } from 'node:timers/promises'
import { goneBefore } from '../discarding.ts'
import type { Columns } from '../search/columns.ts'
import type { Segment } from '../search/segment.ts'
import type { NameBlock } from './matcher.ts'
import { signatureOf } from './signature.ts'

/** Signatures made at a stretch: a millisecond. */
const STRETCH = 16_384

/** They go with their columns, which never change. Four bytes a record. */
const signatures = new WeakMap<Columns, Uint32Array>()

/** All names of these segments, which together hold all records, as they are now: what changes meanwhile is as it was. */
export async function* catalogueNames(segments: readonly Segment[], now: number): AsyncGenerator<NameBlock> {
  const gone = goneBefore(now)
  const asTheyAre = segments.map((segment) => ({ segment, live: segment.live.slice() }))
  for (const { segment, live } of asTheyAre) {
    const { names, starts, count } = segment.columns
    const isLive = (position: number) =>
      ((live[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0 && !(segment.discardedAt(position) <= gone)
    yield { names, starts, count, signatures: await signaturesOf(segment.columns), isLive }
  }
}

async function signaturesOf(columns: Columns): Promise<Uint32Array> {
  const known = signatures.get(columns)
  if (known !== undefined) return known
  const { names, starts, count } = columns
  const made = new Uint32Array(count)
  for (let position = 0; position < count; position++) {
    made[position] = signatureOf(names, starts[position] ?? 0, starts[position + 1] ?? 0)
    if (position % STRETCH === STRETCH - 1) await breathe()
  }
  signatures.set(columns, made)
  return made
}
