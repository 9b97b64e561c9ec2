import {
  HYPHEN,
  LETTER_PAIRS,
  MAX_HOMOGLYPH_COST,
  pairKey,
  pairLetters,
  MIN_EDIT_COST,
  octetsOf,
  replacementCosts,
} from './letters.ts'
import { CONNECTORS } from './distance.ts'

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

/** Letters that fit into a small integer, a bit each. Longer names are recognised by their beginning. */
const MAX_LETTERS = 29

/** By `pairKey` of two letters: 2 if they are a connector, 4 if a longer one ends in them. */
const connectorEnds = new Uint8Array(256 * 256)
for (const connector of CONNECTORS) {
  const octets = octetsOf(connector)
  const key = pairKey(octets.at(-2) ?? 0, octets.at(-1) ?? 0)
  connectorEnds[key] = (connectorEnds[key] ?? 0) | (octets.length === 2 ? 2 : 4)
}

/**
 * Approximate matching with bit parallelism (Wu and Manber, 1992): bit `i` of a state says that the first `i`
 * letters of our name may have been read. There is one state for each number of edits. Homoglyphs and hyphens are
 * not edits. Recognises all names that resemble ours, and few others.
 */
export class Automaton {
  /**
   * The bits of our last letter; for a longer name also of the one before it, because an edit of two letters may
   * end there.
   */
  readonly #final: number
  readonly #isComplete: boolean
  readonly #all: number
  /** By letter of the other name: the bits after letters of ours that look the same or are the same. */
  readonly #alike = new Uint32Array(256)
  readonly #same = new Uint32Array(256)
  /** By letter: the bits after two letters of ours that look like it, and that nearly do. */
  readonly #joined = new Uint32Array(256)
  readonly #nearlyJoined = new Uint32Array(256)
  /** By `pairKey` of two letters: the bits after a letter of ours that they look like, and that they nearly do. */
  readonly #split = new Uint32Array(256 * 256)
  readonly #nearlySplit = new Uint32Array(256 * 256)
  /** By letter: 1 if two letters that end in it are in either. */
  readonly #endsSplit = new Uint8Array(256)

  constructor(own: Uint8Array) {
    const all = own.filter((letter) => letter !== HYPHEN)
    const letters = all.subarray(0, MAX_LETTERS)
    this.#isComplete = all.length === letters.length
    this.#final = this.#isComplete ? 1 << letters.length : 3 << (letters.length - 1)
    this.#all = 2 ** (letters.length + 1) - 1
    for (const [i, letter] of letters.entries()) this.#addLetter(letter, letters[i - 1] ?? 0, 2 << i)
  }

  #addLetter(own: number, before: number, bit: number): void {
    addBit(this.#same, own, bit)
    for (let letter = 0; letter < 256; letter++) {
      if ((replacementCosts[pairKey(own, letter)] ?? 0) <= MAX_HOMOGLYPH_COST)
        addBit(this.#alike, letter, bit)
    }
    for (const { two, one, cost } of LETTER_PAIRS) {
      const isNear = cost >= MIN_EDIT_COST
      const pair = pairKey(two.charCodeAt(0), two.charCodeAt(1))
      if (pair === pairKey(before, own)) {
        addBit(isNear ? this.#nearlyJoined : this.#joined, one.charCodeAt(0), bit)
      }
      if (one.charCodeAt(0) !== own) continue
      addBit(isNear ? this.#nearlySplit : this.#split, pair, bit)
      this.#endsSplit[two.charCodeAt(1)] = 1
    }
  }

  /**
   * Returns whether the name at `start` to `end` may be ours, except for edits.
   * @param edits 0 to 2
   * @param isInside to look for ours anywhere inside it instead, where a connector counts as an edit
   */
  accepts(octets: Uint8Array, start: number, end: number, edits: number, isInside: boolean): boolean {
    const all = this.#all
    const final = this.#final
    const stopsEarly = isInside || !this.#isComplete
    const restart = isInside ? 1 : 0
    // States by the number of edits, which may have omitted letters of ours; then the states one and two letters earlier.
    let [zero, one, two] = [1, edits > 0 ? 3 : 0, edits > 1 ? 7 : 0]
    let [zero1, zero2, one1, two1] = [0, 0, 0, 0]
    let before = 0
    for (let at = start; at < end; at++) {
      const letter = octets[at] ?? 0
      if (letter === HYPHEN) continue
      const pair = before * 256 + letter
      const alike = this.#alike[letter] ?? 0
      const joined = this.#joined[letter] ?? 0
      const endsSplit = this.#endsSplit[letter] === 1
      const split = endsSplit ? (this.#split[pair] ?? 0) : 0
      const nextZero =
        (restart | ((zero << 1) & alike) | ((zero << 2) & joined) | ((zero1 << 1) & split)) & all
      let alive = nextZero | zero
      if (edits > 0) {
        const nearlyJoined = this.#nearlyJoined[letter] ?? 0
        const nearlySplit = endsSplit ? (this.#nearlySplit[pair] ?? 0) : 0
        const swapped = ((this.#same[letter] ?? 0) << 1) & (this.#same[before] ?? 0)
        // In this order: no edit here, an addition, a replacement, an omission, a transposition, two letters for one.
        let nextOne =
          ((one << 1) & alike) |
          ((one << 2) & joined) |
          ((one1 << 1) & split) |
          (zero | (zero << 1) | (nextZero << 1)) |
          (((zero1 << 2) & swapped) | ((zero << 2) & nearlyJoined) | ((zero1 << 1) & nearlySplit))
        // A connector follows a letter of ours.
        if (isInside && (zero1 > 1 || zero2 > 1)) {
          const connector = connectorEnds[pair] ?? 0
          if ((connector & 2) !== 0) nextOne |= zero1
          if ((connector & 4) !== 0) nextOne |= zero2
        }
        nextOne &= all
        if (edits > 1) {
          const nextTwo =
            ((two << 1) & alike) |
            ((two << 2) & joined) |
            ((two1 << 1) & split) |
            (one | (one << 1) | (nextOne << 1)) |
            (((one1 << 2) & swapped) | ((one << 2) & nearlyJoined) | ((one1 << 1) & nearlySplit))
          two1 = two
          two = nextTwo & all
        }
        alive = nextOne | one | two | two1
        one1 = one
        one = nextOne
      }
      zero2 = zero1
      zero1 = zero
      zero = nextZero
      before = letter
      if (stopsEarly && ((zero | one | two) & final) !== 0) return true
      // Two letters that look like one lead on from the state before them.
      if (alive === 0) return false
    }
    return !stopsEarly && ((zero | one | two) & final) !== 0
  }
}

function addBit(bits: Uint32Array, key: number, bit: number): void {
  bits[key] = (bits[key] ?? 0) | bit
}
