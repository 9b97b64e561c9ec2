import { lowestBit, setBits, MARKS } from './columns.ts'

/**
 * The characters of names as numbers: those of the alphabet of .cl, then the two edges of a name, so that texts at the
 * beginning or the end of a name are found by pairs and triples as well.
 */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-áéíóúüñ'

export const BEGIN = LETTERS.length
export const END = LETTERS.length + 1
export const SYMBOLS = LETTERS.length + 2

/** Marks a character that no name has. */
export const NO_SYMBOL = 255

/** By Latin-1 code. */
export const SYMBOL_OF = new Uint8Array(256).fill(NO_SYMBOL)
for (const [symbol, letter] of [...LETTERS].entries()) SYMBOL_OF[letter.charCodeAt(0)] = symbol

/** Whether a name can have this character. */
export function isLetter(character: string): boolean {
  const code = character.charCodeAt(0)
  return code <= 0xff && SYMBOL_OF[code] !== NO_SYMBOL
}

/**
 * The planes: a bit per record for each mark, each symbol (but the edges, which every name has), each hash of a pair of
 * neighbours, each ordered pair of common letters, and each repeated letter.
 */
const FIRST_SYMBOL_PLANE = MARKS
const PAIR_PLANE_BITS = 6
const FIRST_PAIR_PLANE = FIRST_SYMBOL_PLANE + BEGIN
const FIRST_ORDER_PLANE = FIRST_PAIR_PLANE + 2 ** PAIR_PLANE_BITS

/** For each two of these letters, a plane of the names in which the first occurs somewhere before the second. */
const COMMON_LETTERS = 'aeiorsltnc-'
/** Letters that a name contains at least this often, where the planes above match about a fifth of all names. */
const REPEATED_LETTERS = 'uu dd mm pp hh gg vv aaa eee iii ooo rrr lll aaaa aaaaa'.split(' ')
const FIRST_REPEAT_PLANE = FIRST_ORDER_PLANE + COMMON_LETTERS.length ** 2
export const PLANES = FIRST_REPEAT_PLANE + REPEATED_LETTERS.length

export const symbolPlane = (symbol: number): number => FIRST_SYMBOL_PLANE + symbol
export const pairPlane = (first: number, second: number): number =>
  FIRST_PAIR_PLANE + hashed(first * SYMBOLS + second, PAIR_PLANE_BITS)

/** Fibonacci hashing: spreads neighbouring numbers. */
export function hashed(number: number, bits: number): number {
  return Math.imul(number, 0x9e37_79b1) >>> (32 - bits)
}

const codeOf = (letters: string): number => letters.charCodeAt(0)

/** By Latin-1 code, the index of a common letter; -1 for others. */
const COMMON_INDEX = new Int8Array(256).fill(-1)
for (const [index, letter] of [...COMMON_LETTERS].entries()) COMMON_INDEX[codeOf(letter)] = index

/** By Latin-1 code and number of occurrences, the plane of a repeated letter; 0 if there is none. */
const MAX_REPEATS = 5
const REPEAT_PLANE = new Uint8Array(256 * (MAX_REPEATS + 1))
for (const [i, letters] of REPEATED_LETTERS.entries()) {
  REPEAT_PLANE[codeOf(letters) * (MAX_REPEATS + 1) + letters.length] = FIRST_REPEAT_PLANE + i
}

const counts = new Uint8Array(256)

/**
 * Sets a bit in the planes of the ordered pairs and the repeated letters of a text. Wildcards belong to none, so every name
 * that matches a pattern has the planes of the pattern.
 */
export function setOrderPlanes(
  text: Uint8Array,
  start: number,
  end: number,
  planes: Uint32Array,
  bit: number,
): void {
  counts.fill(0)
  /** The common letters so far: a bit for each index. */
  let before = 0
  for (let at = start; at < end; at++) {
    const code = text[at] ?? 0
    const count = (counts[code] ?? 0) + 1
    if (count <= MAX_REPEATS) {
      counts[code] = count
      const repeated = REPEAT_PLANE[code * (MAX_REPEATS + 1) + count] ?? 0
      if (repeated !== 0) setBits(planes, repeated, bit)
    }
    const second = COMMON_INDEX[code] ?? -1
    if (second < 0) continue
    for (let firsts = before; firsts !== 0; firsts &= firsts - 1) {
      setBits(planes, FIRST_ORDER_PLANE + lowestBit(firsts) * COMMON_LETTERS.length + second, bit)
    }
    before |= 1 << second
  }
}

/** The planes of ordered pairs and repeated letters that every match of a pattern has. */
export function orderPlanes(pattern: Uint8Array): number[] {
  const present = new Uint32Array(PLANES)
  setOrderPlanes(pattern, 0, pattern.length, present, 1)
  const planes: number[] = []
  for (let plane = FIRST_ORDER_PLANE; plane < PLANES; plane++) if (present[plane] === 1) planes.push(plane)
  return planes
}
