import { BEGIN } from './alphabet.ts'
import { LENGTH_BITS, Plane } from './columns.ts'

/**
 * Behind the planes of marks and lengths, each character has a plane of a bit a record, and so have pairs of neighbours
 * and pairs with one character between them, several of them one plane: names that have all planes of a text are as a
 * rule those that contain it, and of 32 records at once the others need not be looked at.
 */
const FIRST_SYMBOL = Plane.length + LENGTH_BITS
const FIRST_PAIR = FIRST_SYMBOL + BEGIN
const PAIR_SHIFT = 26
const FIRST_GAP = FIRST_PAIR + 2 ** (32 - PAIR_SHIFT)
const GAP_SHIFT = 27
/** All planes of a record. */
export const PLANES = FIRST_GAP + 2 ** (32 - GAP_SHIFT)
/** Planes from here on are signatures: what they rule out a look at the name rules out too. */
export const FIRST_SIGNATURE = FIRST_SYMBOL

/** Of a character, not of an edge: those every name has. */
export const symbolPlane = (symbol: number): number => FIRST_SYMBOL + symbol
export const pairPlane = (first: number, second: number): number =>
  FIRST_PAIR + (scattered(first * SPREAD + second) >>> PAIR_SHIFT)
/** Of two characters with any one between them. */
export const gapPlane = (first: number, third: number): number =>
  FIRST_GAP + (scattered(first * SPREAD + third) >>> GAP_SHIFT)

const SPREAD = 64

/** Spreads neighbouring numbers over the upper bits (Fibonacci hashing). */
export const scattered = (number: number): number => Math.imul(number, 0x9e37_79b1)
