import { BEGIN, END, PAIRS, SYMBOL_OF, SYMBOLS } from './alphabet.ts'
import { BLOCK, MARKS, set, shared, type BlockIndex, type Postings } from './columns.ts'
import { countBits, lowestBit } from './bits.ts'
import {
  COMMON_OF,
  gapPlane,
  lengthPlane,
  LONGEST_PLANE,
  MOST_TIMES,
  NOT_COMMON,
  orderPlane,
  pairPlane,
  PLANES,
  repeatPlane,
  scattered,
  symbolPlane,
} from './signatures.ts'

/**
 * What a block of 32 records is known by: for each character, each pair, triple and four of characters, each length and
 * each mark there is a bit a block that says whether one of its records has it. To find the blocks that have all that is
 * asked for takes microseconds. Triples share keys, as most of them are rare, and so do fours.
 */
const LENGTHS = 64
const TRIPLE_KEYS = 2_048
const TRIPLE_SHIFT = 21
const FIRST_MARK = SYMBOLS + LENGTHS
const FIRST_PAIR = FIRST_MARK + 2 * MARKS
const FIRST_TRIPLE = FIRST_PAIR + PAIRS
const FIRST_FOUR = FIRST_TRIPLE + TRIPLE_KEYS
const FOUR_KEYS = 1_024
const FOUR_SHIFT = 22
export const KEYS = FIRST_FOUR + FOUR_KEYS

export const Key = {
  symbol: (symbol: number) => symbol,
  length: (length: number) => SYMBOLS + length,
  /** That a bit of a plane is set, or that one is not. */
  mark: (plane: number, isSet: boolean) => FIRST_MARK + 2 * plane + Number(isSet),
  pair: (first: number, second: number) => FIRST_PAIR + first * SYMBOLS + second,
  triple: (first: number, second: number, third: number) =>
    FIRST_TRIPLE + (scattered((first * SYMBOLS + second) * SYMBOLS + third) >>> TRIPLE_SHIFT),
  four: (first: number, second: number, third: number, fourth: number) =>
    FIRST_FOUR +
    (scattered(((first * SYMBOLS + second) * SYMBOLS + third) * SYMBOLS + fourth) >>> FOUR_SHIFT),
}

/** Words of a key's bits. */
export const wordsOfKey = (records: number): number => Math.ceil(Math.ceil(records / BLOCK) / 32)

/**
 * Sets the planes of names in `planes`, where those of marks and lengths are set already, and makes the index of blocks.
 * Both are gathered for one block, and for 32 of them, in memory that stays near, before they go where they belong.
 */
export function indexNames(names: Uint8Array, starts: Uint32Array, planes: Uint32Array): BlockIndex {
  const count = starts.length - 1
  const blocks = Math.ceil(count / BLOCK)
  const words = wordsOfKey(count)
  const bits = shared.u32(KEYS * words)
  const counts = shared.u32(KEYS)
  const planeCounts = shared.u32(PLANES)
  const keys = new Uint32Array(KEYS)
  const block = new Uint32Array(PLANES)
  for (let word = 0; word < words; word++) {
    keys.fill(0)
    for (let i = 0; i < 32 && word * 32 + i < blocks; i++) {
      const at = word * 32 + i
      block.fill(0)
      const end = Math.min(count, (at + 1) * BLOCK)
      for (let place = at * BLOCK; place < end; place++) {
        indexName(names, starts[place] ?? 0, starts[place + 1] ?? 0, keys, 1 << i, block, 1 << (place & 31))
      }
      indexMarks(planes, blocks, at, end - at * BLOCK, keys, 1 << i)
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
  return { bits, counts, planeCounts }
}

/** How often each character stands in the name so far. */
const times = new Uint8Array(SYMBOLS)

/** Counts a character once more, up to what planes tell apart. */
function timesOf(symbol: number): number {
  const count = Math.min(MOST_TIMES, (times[symbol] ?? 0) + 1)
  times[symbol] = count
  return count
}

/** Notes a name's keys by the bit of its block, and its planes by its own. */
function indexName(
  names: Uint8Array,
  start: number,
  end: number,
  keys: Uint32Array,
  blockBit: number,
  planes: Uint32Array,
  bit: number,
): void {
  const length = end - start
  set(keys, Key.length(length), blockBit)
  for (let least = Math.min(length, LONGEST_PLANE); least > 1; least--) set(planes, lengthPlane(least), bit)
  /** Common letters so far, by their numbers. */
  let before = 0
  times.fill(0)
  let zeroth = BEGIN
  let first = BEGIN
  let second = BEGIN
  for (let at = start; at <= end; at++) {
    const third = at === end ? END : (SYMBOL_OF[names[at] ?? 0] ?? 0)
    set(keys, Key.pair(second, third), blockBit)
    set(planes, pairPlane(second, third), bit)
    if (at > start) {
      set(keys, Key.triple(first, second, third), blockBit)
      set(planes, gapPlane(first, third), bit)
      if (at > start + 1) set(keys, Key.four(zeroth, first, second, third), blockBit)
    }
    if (at < end) {
      set(keys, Key.symbol(third), blockBit)
      set(planes, symbolPlane(third), bit)
      const repeated = repeatPlane(third, timesOf(third))
      if (repeated >= 0) set(planes, repeated, bit)
      const common = COMMON_OF[third] ?? NOT_COMMON
      if (common !== NOT_COMMON) {
        for (let left = before; left !== 0; left &= left - 1) {
          set(planes, orderPlane(lowestBit(left), common), bit)
        }
        before |= 1 << common
      }
    }
    zeroth = first
    first = second
    second = third
  }
}

/** Notes which marks records of a block have and have not. */
function indexMarks(
  planes: Uint32Array,
  blocks: number,
  block: number,
  records: number,
  keys: Uint32Array,
  blockBit: number,
): void {
  const all = records === BLOCK ? -1 : 2 ** records - 1
  for (let plane = 0; plane < MARKS; plane++) {
    const those = planes[plane * blocks + block] ?? 0
    if (those !== 0) set(keys, Key.mark(plane, true), blockBit)
    if ((~those & all) !== 0) set(keys, Key.mark(plane, false), blockBit)
  }
}

/** For each agent the blocks that have records of it, counted first and then written. */
export function postings(agents: number, agent: Uint32Array): Postings {
  const offsets = shared.u32(agents + 1)
  // The last block seen with each agent, so that a block counts once.
  const last = new Int32Array(agents).fill(-1)
  for (let place = 0; place < agent.length; place++) {
    const number = agent[place] ?? 0
    if (last[number] === place >>> 5) continue
    last[number] = place >>> 5
    offsets[number + 1] = (offsets[number + 1] ?? 0) + 1
  }
  for (let number = 0; number < agents; number++) {
    offsets[number + 1] = (offsets[number + 1] ?? 0) + (offsets[number] ?? 0)
  }
  const blocks = shared.u16(offsets[agents] ?? 0)
  const next = offsets.slice()
  last.fill(-1)
  for (let place = 0; place < agent.length; place++) {
    const number = agent[place] ?? 0
    if (last[number] === place >>> 5) continue
    last[number] = place >>> 5
    const to = next[number] ?? 0
    blocks[to] = place >>> 5
    next[number] = to + 1
  }
  return { offsets, blocks }
}
