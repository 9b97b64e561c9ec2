import { BEGIN, SYMBOL_OF } from './alphabet.ts'
import { MARKS } from './columns.ts'

/**
 * Behind the planes of marks there is one for each length, which names of it and longer ones have: bounds of a length are two
 * planes at most. Then each character has a plane of a bit a record, and so have pairs of neighbours and pairs with one
 * character between them, several of them one plane, the pairs of common letters that stand in this order, however far
 * from each other, and what stands there several times: names that have all planes of a text are as a rule those that contain
 * it, and of 32 records at once the others need not be looked at.
 */
const FIRST_LENGTH = MARKS
/** Longer names are told apart one by one: of a thousand some two are longer. */
export const LONGEST_PLANE = 24
const FIRST_SYMBOL = FIRST_LENGTH + LONGEST_PLANE - 1
const FIRST_PAIR = FIRST_SYMBOL + BEGIN
const PAIR_SHIFT = 26
const FIRST_GAP = FIRST_PAIR + 2 ** (32 - PAIR_SHIFT)
const GAP_SHIFT = 27
const FIRST_ORDER = FIRST_GAP + 2 ** (32 - GAP_SHIFT)
/** The rarer ones leave few records by themselves. */
const COMMON_LETTERS = 'aeiornsltcm'
const FIRST_REPEAT = FIRST_ORDER + COMMON_LETTERS.length ** 2
/** What many names have several times, and how often: the common letters, of which order tells two, and hyphens. */
const REPEATED = [...[...COMMON_LETTERS].map((letter) => `${letter}3`), 'a4', 'e4', 'o4', '-2', '-3']
/** All planes of a record. */
export const PLANES = FIRST_REPEAT + REPEATED.length
/** Of names of this length, from 2 to `LONGEST_PLANE`, and longer ones. */
export const lengthPlane = (length: number): number => FIRST_LENGTH + length - 2
/** Of a character, not of an edge: those every name has. */
export const symbolPlane = (symbol: number): number => FIRST_SYMBOL + symbol
export const pairPlane = (first: number, second: number): number =>
  FIRST_PAIR + (scattered(first * SPREAD + second) >>> PAIR_SHIFT)
/** Of two characters with any one between them. */
export const gapPlane = (first: number, third: number): number =>
  FIRST_GAP + (scattered(first * SPREAD + third) >>> GAP_SHIFT)

/** For each character its number among the common letters, and `NOT_COMMON` for others. */
export const COMMON_OF = new Uint8Array(256).fill(255)
export const NOT_COMMON = 255
for (const [number, letter] of [...COMMON_LETTERS].entries()) {
  COMMON_OF[SYMBOL_OF[letter.charCodeAt(0)] ?? 0] = number
}

/** Of one common letter that stands somewhere before another, both by their numbers among them. */
export const orderPlane = (first: number, later: number): number =>
  FIRST_ORDER + first * COMMON_LETTERS.length + later

/** The most that planes tell apart. */
export const MOST_TIMES = 4
const REPEAT_OF = new Int16Array(256 * (MOST_TIMES + 1)).fill(-1)
for (const [number, repeated] of REPEATED.entries()) {
  REPEAT_OF[(SYMBOL_OF[repeated.charCodeAt(0)] ?? 0) * (MOST_TIMES + 1) + Number(repeated[1])] =
    FIRST_REPEAT + number
}

/** Of names that have a character so many times or more, up to `MOST_TIMES`; -1 where that has no plane. */
export const repeatPlane = (symbol: number, times: number): number =>
  REPEAT_OF[symbol * (MOST_TIMES + 1) + times] ?? -1

const SPREAD = 64

/** Spreads neighbouring numbers over the upper bits (Fibonacci hashing). */
export const scattered = (number: number): number => Math.imul(number, 0x9e37_79b1)
