import { BEGIN, END, PAIRS, SYMBOL_OF, SYMBOLS } from './alphabet.ts'
import { BLOCK, Plane, set, shared, type BlockIndex, type Postings } from './columns.ts'

/**
 * What a block of 32 records is known by: for each character, each pair and each triple of characters, each length and
 * each mark there is a bit a block that says whether one of its records has it. To find the blocks that have all that is
 * asked for takes microseconds. Triples share keys, as most of them are rare.
 */
const MARKS = Plane.length
const LENGTHS = 64
const TRIPLE_KEYS = 2_048
const TRIPLE_SHIFT = 21
const FIRST_MARK = SYMBOLS + LENGTHS
const FIRST_PAIR = FIRST_MARK + 2 * MARKS
const FIRST_TRIPLE = FIRST_PAIR + PAIRS
const KEYS = FIRST_TRIPLE + TRIPLE_KEYS

export const Key = {
  symbol: (symbol: number) => symbol,
  length: (length: number) => SYMBOLS + length,
  /** That a bit of a plane is set, or that one is not. */
  mark: (plane: number, isSet: boolean) => FIRST_MARK + 2 * plane + Number(isSet),
  pair: (first: number, second: number) => FIRST_PAIR + first * SYMBOLS + second,
  triple: (first: number, second: number, third: number) =>
    FIRST_TRIPLE + (scattered((first * SYMBOLS + second) * SYMBOLS + third) >>> TRIPLE_SHIFT),
}

/**
 * In a block each character has a plane of a bit a record, and so have pairs, several of them one: names that have all
 * planes of a text are as a rule those that contain it, and the other 31 need not be looked at.
 */
const PAIR_PLANES = 64
const PAIR_SHIFT = 26
export const SIGNATURE_PLANES = PAIR_PLANES + SYMBOLS

export const symbolPlane = (symbol: number): number => PAIR_PLANES + symbol
export const pairPlane = (first: number, second: number): number =>
  scattered(first * SYMBOLS + second) >>> PAIR_SHIFT

/** Spreads neighbouring numbers over the upper bits (Fibonacci hashing). */
const scattered = (number: number): number => Math.imul(number, 0x9e37_79b1)

/** Words of a key's bits. */
export const wordsOfKey = (records: number): number => Math.ceil(Math.ceil(records / BLOCK) / 32)

export function blockIndexOf(names: Uint8Array, starts: Uint32Array, planes: Uint32Array): BlockIndex {
  const count = starts.length - 1
  const blocks = Math.ceil(count / BLOCK)
  const words = wordsOfKey(count)
  const bits = shared.u32(KEYS * words)
  const signatures = shared.u32(blocks * SIGNATURE_PLANES)
  for (let place = 0; place < count; place++) {
    const block = place >>> 5
    const word = block >>> 5
    const bit = 1 << (block & 31)
    const record = 1 << (place & 31)
    const start = starts[place] ?? 0
    const end = starts[place + 1] ?? 0
    set(bits, Key.length(end - start) * words + word, bit)
    const signature = block * SIGNATURE_PLANES
    let first = BEGIN
    let second = BEGIN
    for (let at = start; at <= end; at++) {
      const third = at === end ? END : (SYMBOL_OF[names[at] ?? 0] ?? 0)
      set(bits, Key.symbol(third) * words + word, bit)
      set(bits, Key.pair(second, third) * words + word, bit)
      if (at > start) set(bits, Key.triple(first, second, third) * words + word, bit)
      set(signatures, signature + symbolPlane(third), record)
      set(signatures, signature + pairPlane(second, third), record)
      first = second
      second = third
    }
  }
  for (let plane = 0; plane < MARKS; plane++) {
    for (let block = 0; block < blocks; block++) {
      const all = block < blocks - 1 || count % BLOCK === 0 ? -1 : 2 ** (count % BLOCK) - 1
      const those = planes[plane * blocks + block] ?? 0
      const bit = 1 << (block & 31)
      if (those !== 0) set(bits, Key.mark(plane, true) * words + (block >>> 5), bit)
      if ((~those & all) !== 0) set(bits, Key.mark(plane, false) * words + (block >>> 5), bit)
    }
  }
  return { bits, signatures }
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
