import { areNeighbours, HYPHEN, ORDINARY, PAIRS, replacementCosts } from './letters.ts'

/**
 * The least cost of the changes that make one name out of another, in tenths of an ordinary change: a weighted edit
 * distance in which letters next to each other may change places, and two letters may stand for one that looks like them.
 */

/** Names have at most 63 characters. */
const MAX_LENGTH = 63
const WIDTH = MAX_LENGTH + 1

const HYPHENATION = 2
const REPETITION = 8
export const TRANSPOSITION = 8
export const PLURAL = 8
const NEXT_KEY = 9
/** More than any alignment costs. */
export const TOO_MUCH = 10_000

const S = 's'.charCodeAt(0)

/** The letter that two look like, and what that costs, at `first * 256 + second`; 0 for none. */
export const pairOnes = new Uint8Array(256 * 256)
export const pairCosts = new Uint8Array(256 * 256)
/** Letters that such pairs end in. */
const endsPair = new Uint8Array(256)
for (const { two, one, cost } of PAIRS) {
  const key = pairKey(two.charCodeAt(0), two.charCodeAt(1))
  pairOnes[key] = one.charCodeAt(0)
  pairCosts[key] = cost
  endsPair[two.charCodeAt(1)] = 1
}

export function pairKey(first: number, second: number): number {
  return first * 256 + second
}

/** The octets of a name in Latin-1, which holds all of .cl's letters. */
export function octetsOf(name: string): Uint8Array {
  return Buffer.from(name, 'latin1')
}

/** What it costs that the other name has `letter`, which stands after `before` and in front of `after` there. */
export function additionCost(letter: number, before: number, after: number): number {
  if (letter === HYPHEN) return HYPHENATION
  if (letter === before) return REPETITION
  return areNeighbours(letter, before) || areNeighbours(letter, after) ? NEXT_KEY : ORDINARY
}

/** What it costs that the other name lacks `letter`, which stands after `before` here. */
export function omissionCost(letter: number, before: number): number {
  if (letter === HYPHEN) return HYPHENATION
  return letter === before ? REPETITION : ORDINARY
}

const additionCosts = new Uint8Array(256 * 256 * 2)
for (let letter = 0; letter < 256; letter++) {
  for (let other = 0; other < 256; other++) {
    additionCosts[pairKey(letter, other)] = additionCost(letter, other, 0)
    additionCosts[65_536 + pairKey(letter, other)] = additionCost(letter, 0, other)
  }
}

/** The lesser of what an additional letter costs by the letter before it and by the one after it; 0 stands for none. */
export function leastAdditionCost(letter: number, before: number, after: number): number {
  return Math.min(
    additionCosts[letter * 256 + before] ?? 0,
    additionCosts[65_536 + letter * 256 + after] ?? 0,
  )
}

/** Costs of making others out of one name. Holds the table of the last one it was asked for. */
export class Alignment {
  readonly octets: Uint8Array
  readonly omissions: Uint8Array
  /** At `i`: the letter that letters i - 1 and i look like; 0 for none. */
  readonly ones: Uint8Array
  readonly oneCosts: Uint8Array
  /** At `j * 64 + i`: making the other's first j letters out of this one's first i. */
  readonly #table = new Uint16Array(WIDTH * WIDTH)

  constructor(octets: Uint8Array) {
    const length = octets.length
    this.octets = octets
    this.omissions = new Uint8Array(length)
    this.ones = new Uint8Array(length)
    this.oneCosts = new Uint8Array(length)
    for (let i = 0; i < length; i++) {
      const letter = octets[i] ?? 0
      const before = octets[i - 1] ?? 0
      this.omissions[i] = omissionCost(letter, before)
      this.ones[i] = pairOnes[pairKey(before, letter)] ?? 0
      this.oneCosts[i] = pairCosts[pairKey(before, letter)] ?? 0
    }
    for (let i = 1; i <= length; i++)
      this.#table[i] = (this.#table[i - 1] ?? 0) + (this.omissions[i - 1] ?? 0)
  }

  /**
   * What it costs to make the name at `start` to `end` of `others`.
   * @returns `TOO_MUCH` where it is more than `most`
   */
  cost(others: Uint8Array, start: number, end: number, most: number): number {
    const { octets, omissions, ones, oneCosts } = this
    const table = this.#table
    const length = octets.length
    const otherLength = end - start
    let before = 0
    let least = 0
    for (let j = 1; j <= otherLength; j++) {
      const letter = others[start + j - 1] ?? 0
      const after = j < otherLength ? (others[start + j] ?? 0) : 0
      const addition = leastAdditionCost(letter, before, after)
      const pair = endsPair[letter] === 1 ? letter + before * 256 : 0
      const pairOne = pairOnes[pair] ?? 0
      const pairCost = pairCosts[pair] ?? 0
      const row = j * WIDTH
      const above = row - WIDTH
      let left = (table[above] ?? 0) + addition
      table[row] = left
      let leastHere = left
      let diagonal = table[above] ?? 0
      for (let i = 1; i <= length; i++) {
        const own = octets[i - 1] ?? 0
        const up = table[above + i] ?? 0
        let cost = diagonal + (replacementCosts[own * 256 + letter] ?? 0)
        if (up + addition < cost) cost = up + addition
        left += omissions[i - 1] ?? 0
        if (left < cost) cost = left
        if (own === before && i > 1 && octets[i - 2] === letter && own !== letter) {
          const swapped = (table[above - WIDTH + i - 2] ?? 0) + TRANSPOSITION
          if (swapped < cost) cost = swapped
        }
        if (pairOne === own) {
          const split = (table[above - WIDTH + i - 1] ?? 0) + pairCost
          if (split < cost) cost = split
        }
        if (ones[i - 1] === letter) {
          const joined = (table[above + i - 2] ?? 0) + (oneCosts[i - 1] ?? 0)
          if (joined < cost) cost = joined
        }
        table[row + i] = cost
        if (cost < leastHere) leastHere = cost
        left = cost
        diagonal = up
      }
      // A change spans two rows at most; the last one may be a plural's.
      if (least > most && leastHere > most && j < otherLength) return TOO_MUCH
      least = leastHere
      before = letter
    }
    const last = otherLength * WIDTH + length
    let cost = table[last] ?? 0
    if (otherLength > 1 && before === S) cost = Math.min(cost, (table[last - WIDTH] ?? 0) + PLURAL)
    if (length > 1 && octets[length - 1] === S) cost = Math.min(cost, (table[last - 1] ?? 0) + PLURAL)
    table[last] = cost
    return cost > most ? TOO_MUCH : cost
  }

  /** What it cost to make the first `j` letters of the other from the first `i` of this one, if it was not too much. */
  at(i: number, j: number): number {
    return this.#table[j * WIDTH + i] ?? TOO_MUCH
  }
}
