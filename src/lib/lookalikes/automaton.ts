import { CONNECTORS } from './distance.ts'
import { HYPHEN, MAX_HOMOGLYPH_COST, toOctets, pairKey, pairLetters, replacementCosts } from './letters.ts'

/** Letters that fit into a small integer, a bit each. Longer names are recognised by their beginning. */
const MAX_LETTERS = 29
/** The sign bit, which no letter has. */
const JOINED = 1 << 31

/** By `pairKey` of two letters: 2 if they are a connector, 4 if a longer one ends in them. */
const connectorEnds = new Uint8Array(256 * 256)
for (const connector of CONNECTORS) {
  const octets = toOctets(connector)
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
  /** The fewest letters it is written with. An edit removes one at most. */
  readonly minLength: number
  readonly #all: number
  readonly #editsInside: number
  /** The bits before and after parts of our name of which other names have one as it is, if they have ours inside. */
  readonly #partStarts: number
  readonly #partEnds: number
  /**
   * By letter of the other name: the bits after letters of ours that are the same, and that look the same (negative if two
   * letters of ours look like it).
   */
  readonly #same = new Int32Array(256)
  readonly #alike = new Int32Array(256)
  /** By letter: the bits after two letters of ours that look like it. */
  readonly #joined = new Int32Array(256)

  /** @param editsInside how many there may be where our name is inside another, 0 or 1 */
  constructor(own: Uint8Array, editsInside: number) {
    const all = own.filter((letter) => letter !== HYPHEN)
    const letters = all.subarray(0, MAX_LETTERS)
    this.#isComplete = all.length === letters.length
    this.minLength = all.length - all.filter((letter, i) => isPair(all[i - 1], letter)).length
    this.#final = this.#isComplete ? 1 << letters.length : 3 << (letters.length - 1)
    this.#all = 2 ** (letters.length + 1) - 1
    for (const [i, letter] of letters.entries()) this.#addLetter(letter, letters[i - 1] ?? 0, 2 << i)
    this.#editsInside = editsInside
    const half = getMiddle(letters)
    this.#partStarts = editsInside === 0 ? 1 : 1 | (2 << half)
    this.#partEnds = editsInside === 0 ? this.#final : (1 << half) | this.#final
  }

  #addLetter(own: number, before: number, bit: number): void {
    addBit(this.#same, own, bit)
    for (let letter = 0; letter < 256; letter++) {
      if ((replacementCosts[pairKey(own, letter)] ?? 0) <= MAX_HOMOGLYPH_COST)
        addBit(this.#alike, letter, bit)
    }
    const single = pairLetters[pairKey(before, own)] ?? 0
    if (single === 0) return
    addBit(this.#joined, single, bit)
    addBit(this.#alike, single, JOINED)
  }

  /**
   * Returns whether the name at `start` to `end` may be ours, except for edits.
   * @param edits 0 to 2
   */
  isEdited(octets: Uint8Array, start: number, end: number, edits: number): boolean {
    return this.#accepts(octets, start, end, edits, 0, !this.#isComplete)
  }

  /** Returns whether ours may be anywhere inside the name at `start` to `end`. A connector counts as an edit. */
  isInside(octets: Uint8Array, start: number, end: number): boolean {
    const edits = this.#editsInside
    if (end - start < this.minLength - edits) return false
    return (
      this.#hasPart(octets, start, end) && (edits === 0 || this.#accepts(octets, start, end, edits, 1, true))
    )
  }

  /** Returns whether the text at `start` to `end` may begin with ours. A connector counts as an edit. */
  isBeginning(octets: Uint8Array, start: number, end: number, edits: number): boolean {
    return this.#accepts(octets, start, end, edits, 0, true)
  }

  /** Excludes most names faster than the states by the number of edits do. */
  #hasPart(octets: Uint8Array, start: number, end: number): boolean {
    const [alikes, same, pairs] = [this.#alike, this.#same, pairLetters]
    const [starts, ends] = [this.#partStarts, this.#partEnds]
    let state = starts
    let state1 = 0
    let before = 0
    for (let at = start; at < end; at++) {
      const letter = octets[at] ?? 0
      if (letter === HYPHEN) continue
      const alike = alikes[letter] ?? 0
      let next = ((state << 1) & alike) | starts
      if (alike < 0) next |= (state << 2) & (this.#joined[letter] ?? 0)
      const single = pairs[before * 256 + letter] ?? 0
      if (single !== 0) next |= (state1 << 1) & (same[single] ?? 0)
      if ((next & ends) !== 0) return true
      state1 = state
      state = next
      before = letter
    }
    return false
  }

  /** @param restart states to enter before each letter */
  #accepts(
    octets: Uint8Array,
    start: number,
    end: number,
    edits: number,
    restart: number,
    stopsEarly: boolean,
  ): boolean {
    const [alikes, same, pairs] = [this.#alike, this.#same, pairLetters]
    const [all, final] = [this.#all, this.#final]
    // States by the number of edits, which may have omitted letters of ours; then the states one and two letters earlier.
    let zero = 1
    let one = edits > 0 ? 3 : 0
    let two = edits > 1 ? 7 : 0
    let zero1 = 0
    let zero2 = 0
    let one1 = 0
    let two1 = 0
    let before = 0
    for (let at = start; at < end; at++) {
      const letter = octets[at] ?? 0
      if (letter === HYPHEN) continue
      const pair = before * 256 + letter
      const alike = alikes[letter] ?? 0
      const joined = alike < 0 ? (this.#joined[letter] ?? 0) : 0
      const single = pairs[pair] ?? 0
      const split = single === 0 ? 0 : (same[single] ?? 0)
      const nextZero =
        (restart | ((zero << 1) & alike) | ((zero << 2) & joined) | ((zero1 << 1) & split)) & all
      let alive = nextZero | zero
      if (edits > 0) {
        const swapped = ((same[letter] ?? 0) << 1) & (same[before] ?? 0)
        // In this order: no edit here, an addition, a replacement, an omission, a transposition.
        let nextOne =
          ((one << 1) & alike) |
          ((one << 2) & joined) |
          ((one1 << 1) & split) |
          (zero | (zero << 1) | (nextZero << 1) | ((zero1 << 2) & swapped))
        // A connector follows a letter of ours.
        if (stopsEarly && (zero1 > 1 || zero2 > 1)) {
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
            (one | (one << 1) | (nextOne << 1) | ((one1 << 2) & swapped))
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

/**
 * Returns the index of a letter near the middle. An edit of one or two letters changes letters on one side of it at most, and
 * no pair that looks like one letter includes it.
 */
function getMiddle(letters: Uint8Array): number {
  let middle = letters.length >> 1
  while (
    middle > 0 &&
    (isPair(letters[middle - 1], letters[middle]) || isPair(letters[middle], letters[middle + 1]))
  )
    middle--
  return middle
}

function addBit(bits: Int32Array, key: number, bit: number): void {
  bits[key] = (bits[key] ?? 0) | bit
}

const isPair = (first = 0, second = 0): boolean => pairLetters[pairKey(first, second)] !== 0
