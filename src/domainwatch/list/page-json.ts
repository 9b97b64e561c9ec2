import { writeTimestamp, type Columns, type Hit } from '../../lib/name-index/index.ts'
import { MARKS, toMarks } from './hits.ts'

const EMPTY_ARRAY = Buffer.from('[]')
const ARRAY_START = Buffer.from('[{"name":"')
/** The end of a record from its `date_reg` on, and the beginning of the next one. */
const DATES = 'YYYY-MM-DD HH:MM:SS","date_mod":"YYYY-MM-DD HH:MM:SS"},{"name":"'
const MODIFIED_AT = DATES.lastIndexOf('YYYY')
/** The length of the part that is omitted after the last record. */
const AFTER_LAST = DATES.length - DATES.indexOf('}') - 1

/**
 * Serialises records of the index as a JSON array, between two texts, straight from the columns: building a thousand objects only
 * to serialise them takes four times as long. Names and dates contain no character that JSON escapes.
 */
export function hitsToJson(hits: readonly Hit[], before: Uint8Array, after: Uint8Array): Buffer {
  let maxBytes = 0
  const middlesOfHits = hits.map((hit) => {
    const middle = getMiddle(hit)
    // A letter of Latin-1 takes two bytes of UTF-8 at most.
    maxBytes += 2 * hit.segment.getLength(hit.position) + middle.length
    return middle
  })
  const out = Buffer.allocUnsafe(before.length + ARRAY_START.length + maxBytes + after.length)
  out.set(before)
  let at = before.length
  const start = hits.length === 0 ? EMPTY_ARRAY : ARRAY_START
  out.set(start, at)
  at += start.length
  for (const [i, { segment, position }] of hits.entries()) {
    const { names, starts, registered, modified } = segment.columns
    const middle = middlesOfHits[i] ?? EMPTY_ARRAY
    at = writeName(out, at, names, starts[position] ?? 0, starts[position + 1] ?? 0)
    out.set(middle, at)
    at += middle.length
    const dates = at - DATES.length
    writeTimestamp(out, dates, registered[position] ?? 0)
    writeTimestamp(out, dates + MODIFIED_AT, modified[position] ?? 0)
  }
  if (hits.length > 0) {
    at -= AFTER_LAST
    out[at++] = 0x5d
  }
  out.set(after, at)
  return out.subarray(0, at + after.length)
}

/** Writes a name in UTF-8. */
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

/** Texts cached per segment, of some 200 bytes each; beyond that, all are dropped. */
const MAX_MIDDLES = 4_096
/** By columns, then by agent, length and marks: the JSON of a record between its name and its dates, with room for these. */
const middles = new WeakMap<Columns, Map<number, Uint8Array>>()

function getMiddle({ segment, position }: Hit): Uint8Array {
  const { agent, agents } = segment.columns
  const number = agent[position] ?? 0
  const length = segment.getLength(position)
  const marks = toMarks(segment, position)
  let known = middles.get(segment.columns)
  if (known === undefined || known.size >= MAX_MIDDLES)
    middles.set(segment.columns, (known = new Map<number, Uint8Array>()))
  const kind = (number * 64 + length) * 2 ** MARKS.length + marks
  let middle = known.get(kind)
  if (middle === undefined) {
    const flags = MARKS.map((name, i) => `"${name}":${(marks >>> i) & 1}`).join(',')
    const quoted = JSON.stringify(agents[number] ?? '')
    middle = Buffer.from(`","length":${length},"agent":${quoted},${flags},"date_reg":"${DATES}`)
    known.set(kind, middle)
  }
  return middle
}
