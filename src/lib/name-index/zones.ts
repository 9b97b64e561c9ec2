import { setBits } from './bits.ts'
import { BLOCK, shared } from './columns.ts'
import type { Span } from './query.ts'

/**
 * Builds a zone map: the lowest and highest timestamp of each block, so that a scan for a time range skips blocks
 * outside it. A block without timestamps has (Infinity, -Infinity).
 * @param valueAt NaN for a record without a timestamp
 */
export function zonesOf(count: number, valueAt: (position: number) => number): Float64Array {
  const zones = shared.f64(2 * Math.ceil(count / BLOCK))
  for (let block = 0; block * BLOCK < count; block++) {
    let [low, high] = [Infinity, -Infinity]
    const end = Math.min(count, (block + 1) * BLOCK)
    for (let position = block * BLOCK; position < end; position++) {
      const value = valueAt(position)
      if (value < low) low = value
      if (value > high) high = value
    }
    zones[2 * block] = low
    zones[2 * block + 1] = high
  }
  return zones
}

/**
 * Returns a bit for each block, from the word of position `first` to that of `last`, that may have a timestamp in
 * the range.
 * @returns the words, and the number of bits that are set
 */
export function blocksWithin(
  zones: Float64Array,
  { from, to }: Span,
  [first, last]: readonly [number, number],
  words: number,
): { readonly bits: Uint32Array; readonly blocks: number } {
  const bits = new Uint32Array(words)
  let blocks = 0
  const end = Math.min(zones.length / 2, Math.ceil(last / BLOCK))
  for (let block = Math.floor(first / BLOCK); block < end; block++) {
    if ((zones[2 * block] ?? Infinity) > to || (zones[2 * block + 1] ?? -Infinity) < from) continue
    setBits(bits, block >>> 5, 1 << (block & 31))
    blocks++
  }
  return { bits, blocks }
}
