import { HYPHEN, LETTER_PAIRS, MAX_HOMOGLYPH_COST, pairKey, pairLetters } from './letters.ts'

/** Letters that look the same are of one class, so homoglyphs do not change the classes of a name. */
const CLASSES = 'x j z2 k y f h ií1l b8 v gq96 aá4 r p eé3 nñ uúü oó0 c s5 t7'.split(' ')
const SIZE_SHIFT = 24
const CLASS_MASK = 2 ** SIZE_SHIFT - 1

/**
 * By letter: a bit for each of its classes, and its number of letters above `SIZE_SHIFT`. A letter that looks like two
 * counts as both, a hyphen as none. Other characters have no class.
 */
const letterWords = new Uint32Array(256).map((_, code) => {
  if (code === HYPHEN) return 0
  const letter = String.fromCharCode(code)
  const letters =
    LETTER_PAIRS.find(({ one, cost }) => one === letter && cost <= MAX_HOMOGLYPH_COST)?.two ?? letter
  const bits = [...letters].map((each) => {
    const index = CLASSES.findIndex((group) => group.includes(each))
    return index < 0 ? 0 : 1 << index
  })
  return bits.reduce((all, bit) => all | bit, letters.length << SIZE_SHIFT)
})

/** How a name may resemble ours as far as its letters tell: bits. */
export const Possible = {
  /** It is ours except for some edits. */
  edited: 1,
  /** It contains ours. */
  inside: 2,
  /** Ours ends in it. */
  parent: 4,
} as const

/** Decides from the letters of a name alone whether it can resemble ours. Never excludes one that does. */
export class LetterFilter {
  readonly #classes: number
  readonly #size: number
  readonly #minSize: number
  readonly #maxSize: number
  /** Classes that ours does not have, and classes of ours that edits may take away. */
  readonly #maxExtra: number
  readonly #maxMissing: number
  readonly #maxMissingInside: number

  /**
   * @param edits how many there may be, homoglyphs and hyphens not counted
   * @param editsInside how many where our name is inside another, 0 or 1; undefined if that is not looked for
   */
  constructor(own: Uint8Array, edits: number, editsInside: number | undefined) {
    const letters = [...own].filter((letter) => letter !== HYPHEN)
    const size = letters.reduce((sum, letter) => sum + ((letterWords[letter] ?? 0) >>> SIZE_SHIFT), 0)
    this.#classes = classesOf(letters)
    this.#size = size
    // An edit adds one letter, or one more, and a letter has two classes at most.
    this.#minSize = size - 2 * edits
    this.#maxSize = size + 2 * edits
    this.#maxExtra = 2 * edits
    this.#maxMissing = maxMissing(letters, this.#classes, edits)
    this.#maxMissingInside = editsInside === undefined ? -1 : maxMissing(letters, this.#classes, editsInside)
  }

  /** Returns bits of `Possible` for the name at `start` to `end`. */
  test(names: Uint8Array, start: number, end: number): number {
    let [all, size] = [0, 0]
    for (let at = start; at < end; at++) {
      const word = letterWords[names[at] ?? 0] ?? 0
      all |= word
      size += word >>> SIZE_SHIFT
    }
    const missing = bitCount(this.#classes & ~all)
    const extra = all & CLASS_MASK & ~this.#classes
    let possible = extra === 0 && size < this.#size ? Possible.parent : 0
    if (size < this.#minSize) return possible
    if (missing <= this.#maxMissingInside) possible |= Possible.inside
    if (missing <= this.#maxMissing && size <= this.#maxSize && bitCount(extra) <= this.#maxExtra)
      possible |= Possible.edited
    return possible
  }
}

function classesOf(letters: readonly number[]): number {
  return letters.reduce((all, letter) => all | (letterWords[letter] ?? 0), 0) & CLASS_MASK
}

/** Returns how many classes at most are missing if `edits` letters, or pairs that look like one, are replaced. */
function maxMissing(letters: readonly number[], classes: number, edits: number): number {
  if (edits === 0) return bitCount(classes & ~classesOf(letters))
  let most = 0
  for (const [i, letter] of letters.entries()) {
    const isPair = pairLetters[pairKey(letters[i - 1] ?? 0, letter)] !== 0
    most = Math.max(most, maxMissing(letters.toSpliced(i, 1), classes, edits - 1))
    if (isPair) most = Math.max(most, maxMissing(letters.toSpliced(i - 1, 2), classes, edits - 1))
  }
  return most
}

function bitCount(bits: number): number {
  let left = bits - ((bits >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
