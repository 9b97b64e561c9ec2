import { setBits } from './columns.ts'

/**
 * The characters of names as numbers: those of the alphabet of .cl, then the two edges of a name, so that texts at the
 * beginning or the end of a name are found by pairs as well.
 */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-áéíóúüñ'

export const BEGIN = LETTERS.length
export const END = LETTERS.length + 1
const SYMBOLS = LETTERS.length + 2

/** Marks a character that no name has. */
const NO_SYMBOL = 255

/** By Latin-1 code. */
export const SYMBOL_OF = new Uint8Array(256).fill(NO_SYMBOL)
for (const [symbol, letter] of [...LETTERS].entries()) SYMBOL_OF[letter.charCodeAt(0)] = symbol

/** Whether a name can have this character. */
export function isLetter(character: string): boolean {
  const code = character.charCodeAt(0)
  return code <= 0xff && SYMBOL_OF[code] !== NO_SYMBOL
}

/** The planes of a number: one for each bit, from the lowest on. */
export type NumberPlanes = readonly number[]

/** The length of a name. */
export const LENGTH_PLANES: NumberPlanes = [0, 1, 2, 3, 4, 5]

/**
 * The planes of a name, a bit per record each: its length, each symbol (but the edges, which every name has), each hash of a pair
 * of neighbours, and two hyphens, which stand apart in few names that have one.
 */
const FIRST_SYMBOL_PLANE = LENGTH_PLANES.length
const PAIR_PLANE_BITS = 6
const FIRST_PAIR_PLANE = FIRST_SYMBOL_PLANE + LETTERS.length
export const TWO_HYPHENS_PLANE = FIRST_PAIR_PLANE + 2 ** PAIR_PLANE_BITS
export const NAME_PLANES = TWO_HYPHENS_PLANE + 1

export const HYPHEN = 0x2d

export const symbolPlane = (symbol: number): number => FIRST_SYMBOL_PLANE + symbol

/** Fibonacci hashing spreads neighbouring numbers. */
export const pairPlane = (first: number, second: number): number =>
  FIRST_PAIR_PLANE + (Math.imul(first * SYMBOLS + second, 0x9e37_79b1) >>> (32 - PAIR_PLANE_BITS))

/** Sets a bit in the planes of the name from one byte to another. @param planes a word for each plane */
export function setNamePlanes(
  names: Uint8Array,
  start: number,
  end: number,
  planes: Uint32Array,
  bit: number,
): void {
  setNumber(planes, LENGTH_PLANES, end - start, bit)
  let hyphens = 0
  let before = BEGIN
  for (let at = start; at < end; at++) {
    const code = names[at] ?? 0
    const symbol = SYMBOL_OF[code] ?? NO_SYMBOL
    setBits(planes, symbolPlane(symbol), bit)
    setBits(planes, pairPlane(before, symbol), bit)
    if (code === HYPHEN) hyphens++
    before = symbol
  }
  setBits(planes, pairPlane(before, END), bit)
  if (hyphens > 1) setBits(planes, TWO_HYPHENS_PLANE, bit)
}

/** Sets a bit in those planes of a number whose digits are 1. */
export function setNumber(planes: Uint32Array, ofNumber: NumberPlanes, number: number, bit: number): void {
  for (let digit = 0; digit < ofNumber.length; digit++)
    if (((number >>> digit) & 1) === 1) setBits(planes, ofNumber[digit] ?? NaN, bit)
}

/** A small whole number that every record has, from 0 to `max`. The index holds each of its bits in a plane. */
export interface Trait {
  readonly max: number
}

/** Which planes the traits of records have, after those of their names. The same in all threads. */
export class Layout<T extends Trait = Trait> {
  readonly traits: readonly T[]
  /** The number of planes of traits. */
  readonly planes: number
  readonly #planes = new Map<Trait, NumberPlanes>()

  constructor(traits: Iterable<T>) {
    this.traits = [...new Set(traits)]
    let planes = 0
    for (const trait of this.traits) {
      const first = NAME_PLANES + planes
      const bits = bitsFor(trait.max)
      const ofTrait = Array.from({ length: bits }, (_, bit) => first + bit)
      this.#planes.set(trait, ofTrait)
      planes += bits
    }
    this.planes = planes
  }

  /** @throws if the trait is not one of the layout */
  toPlanes(trait: Trait): NumberPlanes {
    const planes = this.#planes.get(trait)
    if (planes === undefined) throw new Error('a trait that the index does not have')
    return planes
  }
}

/** The number of bits that a number up to `max` takes. */
const bitsFor = (max: number): number => 32 - Math.clz32(max)

/**
 * Hashes of three neighbouring symbols. Which of them the names of a block have tells most blocks apart that no match of a text is
 * in, 32 blocks at a time.
 */
const GRAM_BITS = 12
export const GRAMS = 2 ** GRAM_BITS

/** Fibonacci hashing spreads neighbouring numbers. */
const gram = (first: number, second: number, third: number): number =>
  Math.imul((first * SYMBOLS + second) * SYMBOLS + third, 0x9e37_79b1) >>> (32 - GRAM_BITS)

/** Sets a bit for each gram of the name from one byte to another. @param words a word for each gram */
export function setGrams(
  names: Uint8Array,
  start: number,
  end: number,
  words: Uint32Array,
  bit: number,
): void {
  const symbolAt = (at: number) => (at === end ? END : (SYMBOL_OF[names[at] ?? 0] ?? END))
  let [first, second] = [BEGIN, symbolAt(start)]
  for (let at = start + 1; at <= end; at++) {
    const third = symbolAt(at)
    setBits(words, gram(first, second, third), bit)
    first = second
    second = third
  }
}

/** Returns the grams of a run of symbols. @param unknown stands for any symbol */
export function toGrams(run: readonly number[], unknown: number): number[] {
  return run.flatMap((third, i) => {
    const [first = unknown, second = unknown] = [run[i - 2], run[i - 1]]
    return [first, second, third].includes(unknown) ? [] : [gram(first, second, third)]
  })
}
