import { CONNECTORS } from './distance.ts'
import {
  HYPHEN,
  LETTER_PAIRS,
  MAX_HOMOGLYPH_COST,
  MIN_EDIT_COST,
  octetsOf,
  pairKey,
  replacementCosts,
} from './letters.ts'

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
