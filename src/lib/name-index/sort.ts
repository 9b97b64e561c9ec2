import type { Order } from './columns.ts'

/** Records by place; NaN as the key of those that a list does not have. */
interface Unsorted extends Readonly<Record<Order, Float64Array>> {
  readonly count: number
  readonly names: Uint8Array
  readonly starts: Uint32Array
}

/** The places of the records of a list, newest first, and those of one timestamp by name, last first. */
export function sortedPlaces(records: Unsorted, order: Order): Uint32Array {
  const keys = records[order]
  let places = new Uint32Array(records.count)
  let count = 0
  for (let place = 0; place < records.count; place++) {
    if (!Number.isNaN(keys[place])) places[count++] = place
  }
  places = places.subarray(0, count)
  // A radix sort: comparing numbers that are scattered in memory costs ten times as much.
  const low = new Uint32Array(records.count)
  const high = new Uint32Array(records.count)
  for (const place of places) {
    const key = keys[place] ?? 0
    const upper = Math.floor(key / LOW)
    high[place] = upper
    low[place] = key - upper * LOW
  }
  places = byDigit(places, low, 0, LOW)
  places = byDigit(places, high, 0, HIGH)
  places = byDigit(places, high, HIGH_BITS, HIGH)
  places.reverse()
  orderTies(places, keys, records)
  return places
}

/** Timestamps have 40 bits: a digit of 12 and two of 14. */
const LOW = 2 ** 12
const HIGH_BITS = 14
const HIGH = 2 ** HIGH_BITS

function byDigit(
  places: Uint32Array<ArrayBuffer>,
  keys: Uint32Array,
  shift: number,
  buckets: number,
): Uint32Array<ArrayBuffer> {
  const mask = buckets - 1
  const starts = new Uint32Array(buckets + 1)
  for (let i = 0; i < places.length; i++) {
    const next = (((keys[places[i] ?? 0] ?? 0) >>> shift) & mask) + 1
    starts[next] = (starts[next] ?? 0) + 1
  }
  for (let bucket = 0; bucket < buckets; bucket++) {
    starts[bucket + 1] = (starts[bucket + 1] ?? 0) + (starts[bucket] ?? 0)
  }
  const result = new Uint32Array(places.length)
  for (let i = 0; i < places.length; i++) {
    const place = places[i] ?? 0
    const bucket = ((keys[place] ?? 0) >>> shift) & mask
    const to = starts[bucket] ?? 0
    result[to] = place
    starts[bucket] = to + 1
  }
  return result
}

function orderTies(places: Uint32Array, keys: Float64Array, { names, starts }: Unsorted): void {
  const byName = (a: number, b: number) =>
    -compareBytes(names, starts[a] ?? 0, starts[a + 1] ?? 0, names, starts[b] ?? 0, starts[b + 1] ?? 0)
  for (let from = 0; from < places.length;) {
    const key = keys[places[from] ?? 0]
    let to = from + 1
    while (to < places.length && keys[places[to] ?? 0] === key) to++
    if (to - from > 1) places.subarray(from, to).sort(byName)
    from = to
  }
}

/** Compares two texts, byte by byte as the databases do: negative, zero or positive. */
export function compareBytes(
  a: Uint8Array,
  aFrom: number,
  aTo: number,
  b: Uint8Array,
  bFrom: number,
  bTo: number,
): number {
  const shorter = Math.min(aTo - aFrom, bTo - bFrom)
  for (let at = 0; at < shorter; at++) {
    const difference = (a[aFrom + at] ?? 0) - (b[bFrom + at] ?? 0)
    if (difference !== 0) return difference
  }
  return aTo - aFrom - (bTo - bFrom)
}
