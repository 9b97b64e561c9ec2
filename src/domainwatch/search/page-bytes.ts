import type { Hit } from './answer.ts'
import { Gathered } from './gathered.ts'
import { writeMoment } from './moment.ts'
import { DATES } from './record-texts.ts'

const NONE = Buffer.from('[]')
const BEGIN = Buffer.from('[{"name":"')
const MODIFIED_AT = DATES.lastIndexOf('YYYY')
/** What of that does not stand behind the last record. */
const BEYOND_LAST = DATES.length - DATES.indexOf('}') - 1

/** Where a page of at most so many bytes is written. */
export type Room = (bytes: number) => Buffer

/** One page is written after the other. */
const gathered = new Gathered()

/**
 * The records as a JSON array, between what comes before and behind it, written from their columns: no text, no object
 * comes in between, and nothing is copied twice.
 */
export function pageBytes(
  hits: readonly Hit[],
  before: Uint8Array,
  behind: Uint8Array,
  room: Room = (bytes) => Buffer.allocUnsafe(bytes),
): Buffer {
  const count = hits.length
  gathered.take(hits)
  const { texts, names, starts, ends, registered, modified } = gathered
  const out = room(before.length + BEGIN.length + gathered.bytes + behind.length)
  out.set(before)
  let at = before.length
  if (count === 0) {
    out.set(NONE, at)
    at += NONE.length
  } else {
    out.set(BEGIN, at)
    at += BEGIN.length
    for (let i = 0; i < count; i++) {
      const [from, text] = [names[i], texts[i]]
      if (from === undefined || text === undefined) break
      at = writeName(out, at, from, starts[i] ?? 0, ends[i] ?? 0)
      out.set(text, at)
      at += text.length
      const dates = at - DATES.length
      writeMoment(out, dates, registered[i] ?? 0)
      writeMoment(out, dates + MODIFIED_AT, modified[i] ?? 0)
    }
    at -= BEYOND_LAST
    out[at++] = 0x5d
  }
  out.set(behind, at)
  gathered.forget()
  return out.subarray(0, at + behind.length)
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
