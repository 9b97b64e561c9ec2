import {
  areNeighbours,
  HYPHEN,
  LETTER_S,
  MAX_HOMOGLYPH_COST,
  toOctets,
  ORDINARY_COST,
  pairCosts,
  pairKey,
  pairLetters,
  replacementCosts,
} from './letters.ts'

/** A cost above that of any change. */
export const TOO_MUCH = 10_000

const HYPHENATION_COST = 2
const REPETITION_COST = 8
const NEIGHBOUR_KEY_COST = 9
export const TRANSPOSITION_COST = 8
export const PLURAL_COST = 8
export const CONNECTOR_COST = 8

/** Words that are inserted into a brand: `bancodelestado` for `bancoestado`. */
export const CONNECTORS: readonly string[] = 'al de del el en la las los mi su tu'.split(' ')

/** Names have at most 63 characters. */
const MAX_LENGTH = 63
const WIDTH = MAX_LENGTH + 1

/** Returns the cost of `letter` in the other name between `before` and `after`, where ours has none. */
export function additionCost(letter: number, before: number, after: number): number {
  if (letter === HYPHEN) return HYPHENATION_COST
  if (letter === before) return REPETITION_COST
  const isNeighbour =
    areNeighbours[pairKey(letter, before)] === 1 || areNeighbours[pairKey(letter, after)] === 1
  return isNeighbour ? NEIGHBOUR_KEY_COST : ORDINARY_COST
}

/** Returns the cost of leaving out `letter`, which follows `before` in our name. */
export function omissionCost(letter: number, before: number): number {
  if (letter === HYPHEN) return HYPHENATION_COST
  return letter === before ? REPETITION_COST : ORDINARY_COST
}

/** The steps an alignment consists of. Where several are equally cheap, the lowest explains the change. */
export const Step = {
  replacement: 0,
  transposition: 1,
  /** One of our letters as two that look like it, and the reverse. */
  split: 2,
  join: 3,
  pluralAdded: 4,
  pluralRemoved: 5,
  addition: 6,
  omission: 7,
} as const
export type Step = (typeof Step)[keyof typeof Step]

/** By step: how many letters of our name and of the other name it consumes. */
const OWN_LETTERS = [1, 2, 1, 2, 0, 1, 0, 1]
const OTHER_LETTERS = [1, 2, 2, 1, 1, 0, 1, 0]

/** One step of an alignment: it leads to `i` letters of our name and `j` of the other. */
export interface AlignedStep {
  readonly step: number
  readonly cost: number
  readonly i: number
  readonly j: number
  readonly ownLetters: number
  readonly otherLetters: number
}

/**
 * Weighted edit distance from one name to others, in tenths of an ordinary change: neighbouring letters may change
 * places, and two letters may stand for one that looks like them. Fills a table with one row per letter of the
 * other name, and keeps the table of the last comparison.
 */
export class Distance {
  readonly length: number
  /** Rows filled so far, to measure work. */
  rows = 0
  readonly #own: Uint8Array
  readonly #omissionCosts: Uint8Array
  /** At `j * WIDTH + i`: the least cost of making j letters of the other name from i of ours. */
  readonly #costs = new Uint16Array((WIDTH + 1) * WIDTH)
  /** The step that led to it. */
  readonly #steps = new Uint8Array((WIDTH + 1) * WIDTH)
  /** Inside other names: the least cost with one edit. `#costs` is then of homoglyphs alone. */
  readonly #editedCosts = new Uint16Array((WIDTH + 1) * WIDTH)
  #isWhole = true

  constructor(own: Uint8Array) {
    this.length = own.length
    this.#own = own
    this.#omissionCosts = own.map((letter, i) => omissionCost(letter, own[i - 1] ?? 0))
  }

  /**
   * Compares whole names.
   * @returns the cost of the name at `start` to `end` of `others`; `TOO_MUCH` if it exceeds `maxCost`
   */
  compare(others: Uint8Array, start: number, end: number, maxCost: number): number {
    this.#begin(true)
    let previous = 0
    for (let j = 1; j <= end - start; j++) {
      const least = this.#fillRow(others, start, end, j)
      // No step spans more than two rows.
      if (previous > maxCost && least > maxCost) return TOO_MUCH
      previous = least
    }
    const cost = this.#costs[(end - start) * WIDTH + this.length] ?? TOO_MUCH
    return cost > maxCost ? TOO_MUCH : cost
  }

  /** Returns the steps of a cheapest alignment of whole names, in the order of the letters. */
  align(other: string): AlignedStep[] {
    const octets = toOctets(other)
    this.compare(octets, 0, octets.length, Infinity)
    const path: AlignedStep[] = []
    let [i, j] = [this.length, octets.length]
    while (i > 0 || j > 0) {
      const at = j * WIDTH + i
      const step = this.#steps[at] ?? 0
      const ownLetters = OWN_LETTERS[step] ?? 0
      const otherLetters = OTHER_LETTERS[step] ?? 0
      const cost = (this.#costs[at] ?? 0) - (this.#costs[at - otherLetters * WIDTH - ownLetters] ?? 0)
      path.unshift({ step, cost, i, j, ownLetters, otherLetters })
      i -= ownLetters
      j -= otherLetters
    }
    return path
  }

  /** Starts to look for our name inside another one. */
  beginInside(): void {
    this.#begin(false)
  }

  /**
   * Reads the `j`-th letter after `from`.
   * @param edits 1 to allow one edit that is not a homoglyph, or one connector
   * @returns whether our name, or a beginning of it, can still be there
   */
  extendInside(other: Uint8Array, from: number, j: number, edits: 0 | 1): boolean {
    const least = this.#fillRow(other, from, other.length, j)
    return least < TOO_MUCH || (edits === 1 && this.#canBeEdited(j))
  }

  /** Returns the cost of our whole name in the first `j` letters, with homoglyphs only, or with one edit. */
  insideCost(j: number, edits: 0 | 1): number {
    const at = j * WIDTH + this.length
    return (edits === 0 ? this.#costs[at] : this.#editedCosts[at]) ?? TOO_MUCH
  }

  #canBeEdited(j: number): boolean {
    for (let at = j * WIDTH; at <= j * WIDTH + this.length; at++) {
      if ((this.#editedCosts[at] ?? TOO_MUCH) < TOO_MUCH) return true
    }
    return false
  }

  /** Fills row 0, in which our letters are left out. */
  #begin(isWhole: boolean): void {
    this.#isWhole = isWhole
    this.#clear(0)
    this.#costs[0] = 0
    for (let i = 1; i <= this.length; i++)
      this.#relax(i, i - 1, this.#omissionCosts[i - 1] ?? 0, Step.omission)
  }

  #clear(row: number): void {
    this.#costs.fill(TOO_MUCH, row, row + this.length + 1)
    if (!this.#isWhole) this.#editedCosts.fill(TOO_MUCH, row, row + this.length + 1)
  }

  /**
   * Fills the row of the `j`-th letter after `from`.
   * @returns the least cost in it
   */
  #fillRow(other: Uint8Array, from: number, end: number, j: number): number {
    this.rows++
    const isWhole = this.#isWhole
    const costs = this.#costs
    const last = this.length
    const row = j * WIDTH
    const at = from + j
    const letter = other[at - 1] ?? 0
    const before = j > 1 ? (other[at - 2] ?? 0) : 0
    const addition = additionCost(letter, before, at < end ? (other[at] ?? 0) : 0)
    const pair = pairKey(before, letter)
    const pairLetter = pairLetters[pair] ?? 0
    const connectors = isWhole ? NONE : connectorsEnding(other, from, at)
    this.#clear(row)
    if (isWhole) this.#relax(row, row - WIDTH, addition, Step.addition)
    let least = costs[row] ?? TOO_MUCH
    for (let i = 1; i <= last; i++) {
      const place = row + i
      const above = place - WIDTH
      const own = this.#own[i - 1] ?? 0
      const ownBefore = i > 1 ? (this.#own[i - 2] ?? 0) : 0
      const ownPair = pairKey(ownBefore, own)
      this.#relax(place, above - 1, replacementCosts[pairKey(own, letter)] ?? 0, Step.replacement)
      if (own === before && ownBefore === letter && own !== letter) {
        this.#relax(place, above - WIDTH - 2, TRANSPOSITION_COST, Step.transposition)
      }
      if (pairLetter === own) this.#relax(place, above - WIDTH - 1, pairCosts[pair] ?? 0, Step.split)
      if (pairLetters[ownPair] === letter) this.#relax(place, above - 2, pairCosts[ownPair] ?? 0, Step.join)
      if (i === last && isWhole && at === end) {
        if (letter === LETTER_S && j > 1) this.#relax(place, above, PLURAL_COST, Step.pluralAdded)
        if (own === LETTER_S && i > 1) this.#relax(place, place - 1, PLURAL_COST, Step.pluralRemoved)
      }
      if (isWhole || i < last) {
        this.#relax(place, above, addition, Step.addition)
        for (const size of connectors) this.#relax(place, place - size * WIDTH, CONNECTOR_COST, Step.addition)
      } else if (letter === LETTER_S) this.#relax(place, above, PLURAL_COST, Step.pluralAdded)
      this.#relax(place, place - 1, this.#omissionCosts[i - 1] ?? 0, Step.omission)
      least = Math.min(least, costs[place] ?? TOO_MUCH)
    }
    return least
  }

  /** Updates a cell of the table by a step from another one, if that is cheaper. */
  #relax(place: number, source: number, price: number, step: Step): void {
    const costs = this.#costs
    const cost = (costs[source] ?? TOO_MUCH) + price
    if (this.#isWhole) {
      if (cost >= (costs[place] ?? 0)) return
      costs[place] = cost
      this.#steps[place] = step
      return
    }
    const editedCosts = this.#editedCosts
    if (price > MAX_HOMOGLYPH_COST) {
      if (cost < (editedCosts[place] ?? 0)) editedCosts[place] = cost
      return
    }
    if (cost < (costs[place] ?? 0)) costs[place] = cost
    const edited = (editedCosts[source] ?? TOO_MUCH) + price
    if (edited < (editedCosts[place] ?? 0)) editedCosts[place] = edited
  }
}

/** Connectors by `pairKey` of their last two letters. */
const connectorsByEnd = new Map<number, Uint8Array[]>()
for (const connector of CONNECTORS) {
  const octets = toOctets(connector)
  const key = pairKey(octets.at(-2) ?? 0, octets.at(-1) ?? 0)
  connectorsByEnd.set(key, [...(connectorsByEnd.get(key) ?? []), octets])
}
const NONE: readonly number[] = []

/** Returns the lengths of the connectors that end before `at` and do not begin before `from`. */
function connectorsEnding(other: Uint8Array, from: number, at: number): readonly number[] {
  if (at - from < 2) return NONE
  const ending = connectorsByEnd.get(pairKey(other[at - 2] ?? 0, other[at - 1] ?? 0))
  if (ending === undefined) return NONE
  return ending
    .map((octets) => octets.length)
    .filter((size, i) => at - size >= from && ending[i]?.every((octet, k) => octet === other[at - size + k]))
}
