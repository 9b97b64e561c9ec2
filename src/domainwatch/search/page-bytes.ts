import type { Hit } from './answer.ts'
import { Plane } from './columns.ts'
import { MOMENT_LENGTH, writeMoment } from './moment.ts'

const NAME = Buffer.from('{"name":"')
const LENGTH = Buffer.from('","length":')
const MODIFIED = Buffer.from('","date_mod":"')
const END = Buffer.from('"},')
const NOTHING = Buffer.alloc(0)

/** What a record takes beside its name and what its agent says; a length has at most two digits. */
const FIXED = NAME.length + LENGTH.length + 2 + MODIFIED.length + END.length + 2 * MOMENT_LENGTH

const ZERO = 0x30

/** Planes whose digits stand in `afterLength`, and how far from its end. */
const TAIL = ',"status":0,"reserved":0,"revision":0,"discarded":0,"date_reg":"'
const MARKS = [Plane.status, Plane.reserved, Plane.revision, Plane.discarded].map((plane, i) => ({
  plane,
  before: TAIL.length - ([...TAIL.matchAll(/0/g)][i]?.index ?? 0),
}))

/** The part of a record from its length to its date, the same for all of an agent but for the marks. */
export const afterLength = (agent: string): Buffer => Buffer.from(`,"agent":${JSON.stringify(agent)}${TAIL}`)

/** The records as a JSON array, written from their columns: no text, no object comes in between. */
export function pageBytes(hits: readonly Hit[]): Buffer {
  let size = 2
  for (const { segment, position } of hits) {
    const { starts, agent } = segment.columns
    // In UTF-8 a letter of Latin-1 takes two bytes at most.
    const name = 2 * ((starts[position + 1] ?? 0) - (starts[position] ?? 0))
    size += FIXED + name + (segment.agentTexts[agent[position] ?? 0]?.length ?? 0)
  }
  const out = Buffer.allocUnsafeSlow(size)
  out[0] = 0x5b
  let at = 1
  for (const hit of hits) at = writeRecord(out, at, hit)
  // In the place of the last comma.
  if (hits.length > 0) at--
  out[at] = 0x5d
  return out.subarray(0, at + 1)
}

function writeRecord(out: Uint8Array, start: number, { segment, position }: Hit): number {
  const { names, starts, agent, registered, modified } = segment.columns
  let at = copy(out, start, NAME)
  const first = starts[position] ?? 0
  const end = starts[position + 1] ?? 0
  for (let from = first; from < end; from++) {
    const code = names[from] ?? 0
    if (code < 0x80) out[at++] = code
    else {
      out[at++] = 0xc0 | (code >>> 6)
      out[at++] = 0x80 | (code & 0x3f)
    }
  }
  at = copy(out, at, LENGTH)
  const length = end - first
  if (length > 9) out[at++] = ZERO + Math.floor(length / 10)
  out[at++] = ZERO + (length % 10)
  const text = segment.agentTexts[agent[position] ?? 0] ?? NOTHING
  out.set(text, at)
  at += text.length
  for (const { plane, before } of MARKS) if (segment.has(plane, position)) out[at - before] = ZERO + 1
  writeMoment(out, at, registered[position] ?? 0)
  at = copy(out, at + MOMENT_LENGTH, MODIFIED)
  writeMoment(out, at, modified[position] ?? 0)
  return copy(out, at + MOMENT_LENGTH, END)
}

function copy(out: Uint8Array, at: number, bytes: Uint8Array): number {
  for (let from = 0; from < bytes.length; from++) out[at + from] = bytes[from] ?? 0
  return at + bytes.length
}
