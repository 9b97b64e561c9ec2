import { drawn, HYPHEN, NO_SIGN } from './letters.ts'

/**
 * Three words of a name that settle for nearly all names that they do not resemble another. The first: which signs its
 * letters are drawn with, how many they are, and how many letters take two. The others: which signs follow each other,
 * several such pairs to a bit. Neither hyphens nor what looks the same leave a trace in them.
 */
export const WORDS = 3

/** 21 signs, a bit that stays free, 2 bits for the letters that take two, then the number of signs. */
export const DOUBLES_SHIFT = 22
export const COUNT_SHIFT = 24
export const SIGNS = (1 << DOUBLES_SHIFT) - 1
export const MOST_DOUBLES = 3
/** Fits behind it: the longest names have half as many. */
export const MOST_SIGNS = 255
const ONE = 1 << COUNT_SHIFT

/** Signs, and one more for none, which stands before the first. */
const NONE = NO_SIGN + 1
const ROW = 256

const C = 'c'.charCodeAt(0)
const L = 'l'.charCodeAt(0)

/** By letter: its signs and their number, as in the first word; whether it takes two; the last of its signs. */
const firstWords = new Uint32Array(256)
const doubles = new Uint8Array(256)
const lastSigns = new Uint8Array(256)
/** By the sign before it, and letter: the bits of the pairs that it makes, in the second word and the third. */
const pairBits = new Uint32Array((NONE + 1) * ROW)
const morePairBits = new Uint32Array((NONE + 1) * ROW)
for (const [letter, signs] of drawn.entries()) {
  if (letter === HYPHEN) continue
  for (const sign of signs) firstWords[letter] = ((firstWords[letter] ?? 0) | bitOfSign(sign)) + ONE
  doubles[letter] = signs.length - 1
  lastSigns[letter] = signs.at(-1) ?? NONE
  for (let before = 0; before <= NONE; before++) {
    const [some, others] = bitsOfRun(before === NONE ? signs : [before, ...signs])
    pairBits[before * ROW + letter] = some
    morePairBits[before * ROW + letter] = others
  }
}

function bitOfSign(sign: number): number {
  return sign === NO_SIGN ? 0 : 1 << sign
}

/** The bits of neighbours in a run, each pair scattered to one of 64 (Fibonacci hashing). */
export function bitsOfRun(run: readonly number[]): [number, number] {
  const bits: [number, number] = [0, 0]
  for (const [i, sign] of run.slice(1).entries()) {
    const place = Math.imul((run[i] ?? 0) * 32 + sign, 0x9e37_79b1) >>> 26
    if (place < 32) bits[0] |= 1 << place
    else bits[1] |= 1 << (place - 32)
  }
  return bits
}

/** Writes the words of the name at `start` to `end` to `words`, from `at` on. */
export function sign(octets: Uint8Array, start: number, end: number, words: Uint32Array, at: number): void {
  let signs = 0
  let count = 0
  let double = 0
  let pairs = 0
  let morePairs = 0
  let before = 0
  let last = NONE
  for (let place = start; place < end; place++) {
    const letter = octets[place] ?? 0
    if (letter === HYPHEN) {
      before = letter
      continue
    }
    const word = firstWords[letter] ?? 0
    signs |= word & SIGNS
    count += word >>> COUNT_SHIFT
    double += doubles[letter] ?? 0
    // Nearly looks like a single letter that has neither's sign: the only such two.
    if (letter === C && before === L) double++
    pairs |= pairBits[last * ROW + letter] ?? 0
    morePairs |= morePairBits[last * ROW + letter] ?? 0
    last = lastSigns[letter] ?? NONE
    before = letter
  }
  words[at] = signs | (Math.min(double, MOST_DOUBLES) << DOUBLES_SHIFT) | (count << COUNT_SHIFT)
  words[at + 1] = pairs
  words[at + 2] = morePairs
}

export function bitsOf(word: number): number {
  let left = word - ((word >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
