import type { Order } from './columns.ts'

/** Sort keys of records by index; NaN for records that are not in a list. */
interface Unsorted extends Readonly<Record<Order, Float64Array>> {
  readonly count: number
  readonly names: Uint8Array
  readonly starts: Uint32Array
}

/** Returns the indices of the records of a list, newest first, and within a timestamp by name in descending order. */
export function sortedPlaces(records: Unsorted, order: Order): Uint32Array {
  const { names, starts } = records
  const keys = records[order]
  const places = new Uint32Array(records.count)
  let count = 0
  for (let place = 0; place < records.count; place++) {
    if (!Number.isNaN(keys[place])) places[count++] = place
  }
  return places.subarray(0, count).sort((a, b) => {
    const difference = (keys[b] ?? 0) - (keys[a] ?? 0)
    if (difference !== 0) return difference
    return compareBytes(names, starts[b] ?? 0, starts[b + 1] ?? 0, names, starts[a] ?? 0, starts[a + 1] ?? 0)
  })
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
