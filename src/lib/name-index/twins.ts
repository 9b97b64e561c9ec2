import { MAX_RECORDS } from './columns.ts'
import { HYPHEN } from './planes.ts'
import { compareBytes, type Segment } from './segment.ts'

/**
 * Finds names that differ only in hyphens, accents, `ñ` and a plural. What is left of a name without these is its key. A segment has
 * a sorted table with a number for each record: the hash of its key in 31 bits, whether it comes first, and its position.
 */

/** Half of the numbers with one hash, those of records that come first. */
const HALF = MAX_RECORDS
const OF_HASH = 2 * HALF
const HASHES = 2 ** 31

/** The letter that each character of a name is read as, by Latin-1 code. */
const READ_AS = Uint8Array.from({ length: 256 }, (_, code) => code)
for (const [i, letter] of [...'áéíóúüñ'].entries()) READ_AS[letter.charCodeAt(0)] = 'aeiouun'.charCodeAt(i)

const [E, S] = [0x65, 0x73]

/** Writes the key of a name. @returns its length */
function writeKey(out: Uint8Array, names: Uint8Array, from: number, to: number): number {
  let length = 0
  for (let at = from; at < to; at++) {
    const code = names[at] ?? 0
    if (code !== HYPHEN) out[length++] = READ_AS[code] ?? 0
  }
  return length
}

/** FNV-1a, in 31 bits. */
function hashOf(key: Uint8Array, length: number): number {
  let hash = 0x811c_9dc5
  for (let at = 0; at < length; at++) hash = Math.imul(hash ^ (key[at] ?? 0), 0x0100_0193)
  return hash >>> 1
}

/** Two plural endings longer than any name. */
const MAX_KEY_BYTES = 72
const scratch = new Uint8Array(MAX_KEY_BYTES)
/** The key that is looked for. An array for each of a million names takes a second. */
const wantedKey = new Uint8Array(MAX_KEY_BYTES)

/** Returns the number of a record in the table. @param isFirst whether it comes before others with its key */
export function twinEntry(
  names: Uint8Array,
  from: number,
  to: number,
  isFirst: boolean,
  position: number,
): number {
  const length = writeKey(scratch, names, from, to)
  return hashOf(scratch, length) * OF_HASH + (isFirst ? 0 : HALF) + position
}

type Visit = (segment: Segment, position: number) => boolean

/** Returns the key of a name, which is in Latin-1. */
export function twinKey(name: Uint8Array): string {
  return Buffer.from(scratch.subarray(0, writeKey(scratch, name, 0, name.length))).toString('latin1')
}

/**
 * Visits the records whose names are twins of a name, and the name itself: their keys are equal, or one is the other plus `s` or
 * `es`.
 * @param name in Latin-1
 * @param onlyFirst whether to visit only those that come first
 * @param visit returns true to stop; it must not look for twins itself
 * @returns whether a visit stopped it
 */
export function visitTwins(
  segments: readonly Segment[],
  name: Uint8Array,
  onlyFirst: boolean,
  visit: Visit,
): boolean {
  const key = wantedKey
  const length = writeKey(key, name, 0, name.length)
  const isPlural = length > 1 && key[length - 1] === S
  const search = (keyLength: number) =>
    segments.some((segment) => visitKey(segment, key, keyLength, onlyFirst, visit))
  if (search(length)) return true
  if (isPlural && search(length - 1)) return true
  if (isPlural && length > 2 && key[length - 2] === E && search(length - 2)) return true
  key[length] = S
  if (search(length + 1)) return true
  key[length] = E
  key[length + 1] = S
  return search(length + 2)
}

/** Visits the records of a segment whose names have this key. */
function visitKey(
  segment: Segment,
  key: Uint8Array,
  length: number,
  onlyFirst: boolean,
  visit: Visit,
): boolean {
  const { names, starts, twins } = segment.columns
  const first = hashOf(key, length) * OF_HASH
  const end = first + (onlyFirst ? HALF : OF_HASH)
  for (let at = lowerBound(twins, first); at < twins.length; at++) {
    const entry = twins[at] ?? NaN
    if (entry >= end) return false
    const position = entry % HALF
    const [from, to] = [starts[position] ?? 0, starts[position + 1] ?? 0]
    const hasKey = () => compareBytes(scratch, 0, writeKey(scratch, names, from, to), key, 0, length) === 0
    if (segment.isLive(position) && hasKey() && visit(segment, position)) return true
  }
  return false
}

/** Hashes are spread evenly, so most numbers are near their share of the table: those around it are in a cache of the processor. */
function lowerBound(sorted: Float64Array, wanted: number): number {
  let [low, high] = [0, sorted.length]
  const share = Math.floor((wanted / (HASHES * OF_HASH)) * high)
  const reach = Math.ceil(2 * Math.sqrt(high))
  if (share > reach && (sorted[share - reach] ?? NaN) < wanted) low = share - reach
  if (share + reach < high && (sorted[share + reach] ?? NaN) >= wanted) high = share + reach
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return low
}
