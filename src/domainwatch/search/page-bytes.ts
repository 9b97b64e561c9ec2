import type { Hit } from './answer.ts'
import { Plane } from './columns.ts'
import { MOMENT_LENGTH, writeMoment } from './moment.ts'

const NONE = Buffer.from('[]')
const BEGIN = Buffer.from('[{"name":"')
/** From one record's `date_reg` to the next one's name, and where its `date_mod` is in that. */
const BETWEEN = '","date_mod":"YYYY-MM-DD HH:MM:SS"},{"name":"'
const MODIFIED_AT = BETWEEN.indexOf('Y')
/** The part of that behind the last record, before the array's end. */
const LAST = BETWEEN.indexOf('}') + 1

/**
 * The records as a JSON array, between what comes before and behind it, written from their columns: no text, no object
 * comes in between, and nothing is copied twice.
 */
export function pageBytes(hits: readonly Hit[], before: Uint8Array, behind: Uint8Array): Buffer {
  if (hits.length === 0) return Buffer.concat([before, NONE, behind])
  const texts = hits.map(textOf)
  let size = before.length + BEGIN.length + behind.length
  for (const [i, { segment, position }] of hits.entries()) {
    const { starts } = segment.columns
    // In UTF-8 a letter of Latin-1 takes two bytes at most.
    const name = 2 * ((starts[position + 1] ?? 0) - (starts[position] ?? 0))
    size += name + (texts[i]?.length ?? 0) + MOMENT_LENGTH + BETWEEN.length
  }
  // Small ones share their memory: to make one of its own takes longer than to fill it.
  const out = Buffer.allocUnsafe(size)
  const between = Buffer.from(BETWEEN)
  // Records of a page were often changed at the same time.
  let modified = NaN
  out.set(before)
  out.set(BEGIN, before.length)
  let at = before.length + BEGIN.length
  for (let i = 0; i < hits.length; i++) {
    const hit = hits[i]
    const text = texts[i]
    if (hit === undefined || text === undefined) break
    const { columns } = hit.segment
    at = writeName(
      out,
      at,
      columns.names,
      columns.starts[hit.position] ?? 0,
      columns.starts[hit.position + 1] ?? 0,
    )
    out.set(text, at)
    at += text.length
    writeMoment(out, at, columns.registered[hit.position] ?? 0)
    at += MOMENT_LENGTH
    const changed = columns.modified[hit.position] ?? 0
    if (changed !== modified) writeMoment(between, MODIFIED_AT, changed)
    modified = changed
    out.set(between, at)
    at += between.length
  }
  at -= BETWEEN.length - LAST
  out[at++] = 0x5d
  out.set(behind, at)
  return out.subarray(0, at + behind.length)
}

function textOf({ segment, position }: Hit): Uint8Array {
  const { columns, words } = segment
  const { starts, planes } = columns
  const word = position >>> 5
  let marks = 0
  // These are the first planes, in the order of an answer.
  for (let plane: number = Plane.status; plane <= Plane.discarded; plane++) {
    marks |= (((planes[plane * words + word] ?? 0) >>> (position & 31)) & 1) << plane
  }
  const length = (starts[position + 1] ?? 0) - (starts[position] ?? 0)
  return segment.texts.of(length, columns.agent[position] ?? 0, marks)
}

function writeName(out: Uint8Array, start: number, names: Uint8Array, first: number, end: number): number {
  let at = start
  for (let from = first; from < end; from++) {
    const code = names[from] ?? 0
    if (code < 0x80) out[at++] = code
    else {
      out[at++] = 0xc0 | (code >>> 6)
      out[at++] = 0x80 | (code & 0x3f)
    }
  }
  return at
}
