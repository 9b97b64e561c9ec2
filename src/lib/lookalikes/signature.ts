import { HYPHEN, LETTER_PAIRS, MAX_HOMOGLYPH_COST, pairKey, pairLetters } from './letters.ts'

/**
 * Three words per name that exclude most names from a search. The first holds the classes of its letters, a bit each, and how
 * many there are; the others hold which classes follow each other, hashed to 64 bits. Homoglyphs and hyphens leave no trace
 * in them: homoglyphs are of one class, and a letter that looks like two has the classes of both.
 */
export const SIGNATURE_WORDS = 3

const CLASSES = 'x j z2 k y f h ií1l b8 v gq96 aá4 r p eé3 nñ uúü oó0 c s5 t7'.split(' ')
/** The class of any other character. It has no bit. */
const OTHER = CLASSES.length
const NONE = OTHER + 1
const SIZE_SHIFT = 24
const CLASS_MASK = 2 ** SIZE_SHIFT - 1

/** By letter: its classes. */
const classesOf: readonly (readonly number[])[] = Array.from({ length: 256 }, (_, code) => {
  if (code === HYPHEN) return []
  const letter = String.fromCharCode(code)
  const pair = LETTER_PAIRS.find(({ one, cost }) => one === letter && cost <= MAX_HOMOGLYPH_COST)
  return [...(pair?.two ?? letter)].map((each) => {
    const index = CLASSES.findIndex((group) => group.includes(each))
    return index < 0 ? OTHER : index
  })
})

type Words = [first: number, second: number, third: number]

/** Returns the words of a sequence of classes. */
function wordsOf(classes: readonly number[]): Words {
  const words: Words = [classes.length << SIZE_SHIFT, 0, 0]
  for (const [i, one] of classes.entries()) {
    if (one !== OTHER) words[0] |= 1 << one
    if (i === 0) continue
    // Fibonacci hashing of two neighbours to one of 64 bits.
    const bit = Math.imul((classes[i - 1] ?? 0) * 32 + one, 0x9e37_79b1) >>> 26
    words[bit < 32 ? 1 : 2] |= 1 << (bit & 31)
  }
  return words
}

/** What a letter adds to the words: to the first by letter, to the others by the class before it and letter. */
const firstWords = new Uint32Array(256)
const secondWords = new Uint32Array((NONE + 1) * 256)
const thirdWords = new Uint32Array((NONE + 1) * 256)
const lastClasses = new Uint8Array(256)
for (const [letter, classes] of classesOf.entries()) {
  firstWords[letter] = wordsOf(classes)[0]
  lastClasses[letter] = classes.at(-1) ?? NONE
  for (let before = 0; before <= NONE; before++) {
    const words = wordsOf(before === NONE ? classes : [before, ...classes])
    secondWords[before * 256 + letter] = words[1]
    thirdWords[before * 256 + letter] = words[2]
  }
}

/** Writes the words of the name at `start` to `end` to `words`, from `at` on. */
function sign(octets: Uint8Array, start: number, end: number, words: Uint32Array, at: number): void {
  let [classes, size, second, third, last] = [0, 0, 0, 0, NONE]
  for (let i = start; i < end; i++) {
    const letter = octets[i] ?? 0
    if (letter === HYPHEN) continue
    const first = firstWords[letter] ?? 0
    classes |= first & CLASS_MASK
    size += first >>> SIZE_SHIFT
    second |= secondWords[last * 256 + letter] ?? 0
    third |= thirdWords[last * 256 + letter] ?? 0
    last = lastClasses[letter] ?? NONE
  }
  words[at] = classes | (size << SIZE_SHIFT)
  words[at + 1] = second
  words[at + 2] = third
}

/**
 * Returns the signatures of names `from` to `to`, `SIGNATURE_WORDS` each.
 * @param starts where each name begins in `names`, and where the last one ends
 */
export function signaturesOf(names: Uint8Array, starts: Uint32Array, from: number, to: number): Uint32Array {
  const words = new Uint32Array((to - from) * SIGNATURE_WORDS)
  for (let i = from; i < to; i++)
    sign(names, starts[i] ?? 0, starts[i + 1] ?? 0, words, (i - from) * SIGNATURE_WORDS)
  return words
}

/** How a name may resemble ours as far as its signature tells: bits. */
export const Possible = {
  /** It is ours with some edits. */
  edited: 1,
  /** It contains ours. */
  inside: 2,
  /** Ours ends in it. */
  parent: 4,
} as const

/** Decides from a signature whether a name can resemble ours. Never excludes one that does. */
export class SignatureFilter {
  readonly #classes: number
  readonly #second: number
  readonly #third: number
  readonly #size: number
  readonly #minSize: number
  readonly #maxSize: number
  readonly #maxExtra: number
  /** Classes, and pairs of them, that edits may take away. */
  readonly #maxMissing: number
  readonly #maxMissingPairs: number
  readonly #maxMissingInside: number
  /** The words of which a name that contains ours has all bits of one. */
  readonly #inside: readonly Words[]

  /**
   * @param edits maximum number of edits, without homoglyphs and hyphens
   * @param editsInside maximum for our name inside another, 0 or 1; undefined to skip that
   */
  constructor(own: Uint8Array, edits: number, editsInside: number | undefined) {
    const letters = [...own].filter((letter) => letter !== HYPHEN)
    const sizes = letters.map((letter) => classesOf[letter]?.length ?? 0)
    const words = wordsOf(letters.flatMap((letter) => classesOf[letter] ?? []))
    this.#classes = words[0] & CLASS_MASK
    this.#second = words[1]
    this.#third = words[2]
    this.#size = sizes.reduce((sum, size) => sum + size, 0)
    this.#minSize = this.#size - edits * Math.max(0, ...sizes)
    // An edit adds one letter, or one more, and a letter has two classes at most.
    this.#maxExtra = 2 * edits
    this.#maxSize = this.#size + 2 * edits
    this.#maxMissing = mostMissing(letters, this.#classes, edits)
    // A transposition breaks the pairs within and around two letters, other edits fewer.
    this.#maxMissingPairs = edits * Math.max(0, ...sizes.map((size, i) => size + (sizes[i + 1] ?? 0) + 1))
    this.#maxMissingInside = editsInside === undefined ? -1 : mostMissing(letters, this.#classes, editsInside)
    this.#inside = editsInside === 1 ? singleEdits(letters) : [words]
  }

  /** Returns bits of `Possible` for the name whose words are at `at`. */
  test(words: Uint32Array, at: number): number {
    const first = words[at] ?? 0
    const extra = first & CLASS_MASK & ~this.#classes
    const missing = bitCount(this.#classes & ~first)
    if (missing > this.#maxMissing && missing > this.#maxMissingInside && extra !== 0) return 0
    const size = first >>> SIZE_SHIFT
    const second = words[at + 1] ?? 0
    const third = words[at + 2] ?? 0
    let possible = 0
    if (missing <= this.#maxMissingInside && containsOne(first, second, third, this.#inside))
      possible |= Possible.inside
    if (extra === 0 && size < this.#size) possible |= Possible.parent
    if (
      missing <= this.#maxMissing &&
      size >= this.#minSize &&
      size <= this.#maxSize &&
      bitCount(extra) <= this.#maxExtra &&
      bitCount(this.#second & ~second) + bitCount(this.#third & ~third) <= this.#maxMissingPairs
    ) {
      possible |= Possible.edited
    }
    return possible
  }
}

function containsOne(first: number, second: number, third: number, all: readonly Words[]): boolean {
  for (const words of all) {
    if ((words[1] & ~second) === 0 && (words[2] & ~third) === 0 && (words[0] & CLASS_MASK & ~first) === 0)
      return true
  }
  return false
}

/** Returns how many classes at most are missing if `edits` letters, or pairs that look like one, are replaced. */
function mostMissing(letters: readonly number[], classes: number, edits: number): number {
  if (edits === 0) {
    const left = wordsOf(letters.flatMap((letter) => classesOf[letter] ?? []))[0]
    return bitCount(classes & ~left)
  }
  let most = 0
  for (const [from, to] of replaceable(letters)) {
    most = Math.max(most, mostMissing(letters.toSpliced(from, to - from), classes, edits - 1))
  }
  return most
}

/** Returns the words that every name has in which one edit was made: one entry for each letter, or two, it can replace. */
function singleEdits(letters: readonly number[]): Words[] {
  const classes = (part: readonly number[]) => part.flatMap((letter) => classesOf[letter] ?? [])
  const replaced = replaceable(letters).map(([from, to]): Words => {
    const [left, right] = [wordsOf(classes(letters.slice(0, from))), wordsOf(classes(letters.slice(to)))]
    return [left[0] | right[0], left[1] | right[1], left[2] | right[2]]
  })
  const swapped = letters
    .slice(1)
    .map((letter, i) => wordsOf(classes(letters.toSpliced(i, 2, letter, letters[i] ?? 0))))
  return [...replaced, ...swapped]
}

/** Returns where each letter is, and each pair that looks like one letter. */
function replaceable(letters: readonly number[]): (readonly [from: number, to: number])[] {
  return letters.flatMap((letter, i) => {
    const isPair = pairLetters[pairKey(letters[i - 1] ?? 0, letter)] !== 0
    const single = [i, i + 1] as const
    return isPair ? [single, [i - 1, i + 1] as const] : [single]
  })
}

function bitCount(bits: number): number {
  let left = bits - ((bits >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
