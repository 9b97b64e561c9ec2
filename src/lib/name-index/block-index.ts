import {
  BEGIN,
  END,
  SYMBOL_OF,
  SYMBOLS,
  hashed,
  pairPlane,
  PLANES,
  setOrderPlanes,
  symbolPlane,
} from './planes.ts'
import { countBits, setBits, BLOCK, Plane, shared, type BlockIndex } from './columns.ts'
import type { Span } from './timestamp.ts'

/**
 * An inverted index of blocks of 32 records: for each symbol, pair and triple of symbols and each length, a bit per block
 * says whether any of its records has it. Triples share keys by a hash, since most of them are rare.
 */
const LENGTHS = 64
const TRIPLE_KEY_BITS = 11
const IDN = SYMBOLS + LENGTHS
const FIRST_PAIR = IDN + 1
const FIRST_TRIPLE = FIRST_PAIR + SYMBOLS ** 2
const KEYS = FIRST_TRIPLE + 2 ** TRIPLE_KEY_BITS

export const Key = {
  symbol: (symbol: number) => symbol,
  length: (length: number) => SYMBOLS + length,
  /** A letter beyond ASCII. */
  idn: IDN,
  pair: (first: number, second: number) => FIRST_PAIR + first * SYMBOLS + second,
  triple: (first: number, second: number, third: number) =>
    FIRST_TRIPLE + hashed((first * SYMBOLS + second) * SYMBOLS + third, TRIPLE_KEY_BITS),
}

/** Words that the bits of one key take. */
export const wordsOfKey = (records: number): number => Math.ceil(Math.ceil(records / BLOCK) / 32)

/** Indexes names whose marks are set in `planes` already, and sets the other planes. */
export function indexNames(
  names: Uint8Array,
  starts: Uint32Array,
  planes: Uint32Array,
): { readonly blocks: BlockIndex; readonly planeCounts: Uint32Array } {
  const count = starts.length - 1
  const blocks = Math.ceil(count / BLOCK)
  const words = wordsOfKey(count)
  const bits = shared.u32(KEYS * words)
  const counts = shared.u32(KEYS)
  const planeCounts = shared.u32(PLANES)
  // Collected for one block, and for 32 of them, in memory that stays in the cache of the processor.
  const keys = new Uint32Array(KEYS)
  const block = new Uint32Array(PLANES)
  for (let word = 0; word < words; word++) {
    keys.fill(0)
    for (let i = 0; i < 32 && word * 32 + i < blocks; i++) {
      const at = word * 32 + i
      block.fill(0)
      const end = Math.min(count, (at + 1) * BLOCK)
      for (let position = at * BLOCK; position < end; position++) {
        const bit = 1 << (position & 31)
        indexName(names, starts[position] ?? 0, starts[position + 1] ?? 0, keys, 1 << i, block, bit)
      }
      if ((planes[Plane.idn * blocks + at] ?? 0) !== 0) setBits(keys, Key.idn, 1 << i)
      for (let plane = 0; plane < PLANES; plane++) {
        const to = plane * blocks + at
        const those = (planes[to] ?? 0) | (block[plane] ?? 0)
        if (those === 0) continue
        planes[to] = those
        planeCounts[plane] = (planeCounts[plane] ?? 0) + countBits(those)
      }
    }
    for (let key = 0; key < KEYS; key++) {
      const those = keys[key] ?? 0
      if (those === 0) continue
      bits[key * words + word] = those
      counts[key] = (counts[key] ?? 0) + countBits(those)
    }
  }
  return { blocks: { bits, counts }, planeCounts }
}

/** Sets the keys of a name by the bit of its block, and its planes by its own bit. */
function indexName(
  names: Uint8Array,
  start: number,
  end: number,
  keys: Uint32Array,
  blockBit: number,
  planes: Uint32Array,
  bit: number,
): void {
  setBits(keys, Key.length(end - start), blockBit)
  setOrderPlanes(names, start, end, planes, bit)
  let first = BEGIN
  let second = BEGIN
  for (let at = start; at <= end; at++) {
    const third = at === end ? END : (SYMBOL_OF[names[at] ?? 0] ?? 0)
    setBits(keys, Key.pair(second, third), blockBit)
    setBits(planes, pairPlane(second, third), bit)
    if (at > start) setBits(keys, Key.triple(first, second, third), blockBit)
    if (at < end) {
      setBits(keys, Key.symbol(third), blockBit)
      setBits(planes, symbolPlane(third), bit)
    }
    first = second
    second = third
  }
}

/**
 * Builds a zone map: the lowest and highest timestamp of each block, so that a scan for a time range skips blocks
 * outside it. A block without timestamps has (Infinity, -Infinity).
 * @param values NaN for a record without a timestamp
 */
export function zonesOf(values: Float64Array): Float64Array {
  const zones = shared.f64(2 * Math.ceil(values.length / BLOCK))
  for (let block = 0; block * BLOCK < values.length; block++) {
    let [low, high] = [Infinity, -Infinity]
    for (let position = block * BLOCK; position < (block + 1) * BLOCK; position++) {
      // NaN beyond the last one.
      const value = values[position] ?? NaN
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
