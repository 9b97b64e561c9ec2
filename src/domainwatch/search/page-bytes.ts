import type { Hit } from './answer.ts'
import { writeMoment } from './moment.ts'
import { DATES } from './record-texts.ts'

const NONE = Buffer.from('[]')
const BEGIN = Buffer.from('[{"name":"')
const MODIFIED_AT = DATES.lastIndexOf('YYYY')
/** What of that does not stand behind the last record. */
const BEYOND_LAST = DATES.length - DATES.indexOf('}') - 1

/** Where a page of at most so many bytes is written. */
export type Room = (bytes: number) => Buffer

/** Writes the records as a JSON array, between what comes before and after it, without an object or a text for each. */
export function pageBytes(
  hits: readonly Hit[],
  before: Uint8Array,
  after: Uint8Array,
  room: Room = (bytes) => Buffer.allocUnsafe(bytes),
): Buffer {
  let most = 0
  const texts = hits.map(({ segment, position }) => {
    const { starts, agent } = segment.columns
    const length = (starts[position + 1] ?? 0) - (starts[position] ?? 0)
    const text = segment.texts.of(length, agent[position] ?? 0, segment.marksOf(position))
    // A letter of Latin-1 takes two bytes of UTF-8 at most.
    most += 2 * length + text.length
    return text
  })
  const out = room(before.length + BEGIN.length + most + after.length)
  out.set(before)
  let at = before.length
  const start = hits.length === 0 ? NONE : BEGIN
  out.set(start, at)
  at += start.length
  for (const [i, { segment, position }] of hits.entries()) {
    const { names, starts, registered, modified } = segment.columns
    const text = texts[i] ?? NONE
    at = writeName(out, at, names, starts[position] ?? 0, starts[position + 1] ?? 0)
    out.set(text, at)
    at += text.length
    const dates = at - DATES.length
    writeMoment(out, dates, registered[position] ?? 0)
    writeMoment(out, dates + MODIFIED_AT, modified[position] ?? 0)
  }
  if (hits.length > 0) {
    at -= BEYOND_LAST
    out[at++] = 0x5d
  }
  out.set(after, at)
  return out.subarray(0, at + after.length)
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
