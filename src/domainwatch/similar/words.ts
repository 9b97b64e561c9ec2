import { HYPHENATION, pairCosts, pairKey, pairOnes, TOO_MUCH } from './alignment.ts'
import { HYPHEN, MOST_THAT_IS_ALIKE, replacementCosts } from './letters.ts'
import { LURES } from './lures.ts'

/** Whether a lure begins with these two letters: spares most texts the making of a string. */
const beginsLure = new Uint8Array(256 * 256)
for (const lure of LURES) beginsLure[pairKey(lure.charCodeAt(0), lure.charCodeAt(1))] = 1

/** What a word beside the name costs, in tenths of an ordinary change: known to lure, set off by a hyphen, or neither. */
const LURE = 4
const SET_OFF = 4
const RUN_ON = 8
/** The least of them. */
export const LEAST_WORD = 4
/** A single letter is no word, unless a hyphen sets it off. */
const LEAST_RUN_ON = 2
/** In shorter names any text is found by chance: there a word must be known, or set off. */
export const LEAST_FOR_RUN_ON = 4

/**
 * What stands beside the name, given in Latin-1.
 * @param isSetOff by a hyphen, which is not part of it
 */
function wordCost(others: Uint8Array, start: number, end: number, isSetOff: boolean, length: number): number {
  const size = end - start
  const beginning = pairKey(others[start] ?? 0, others[start + 1] ?? 0)
  if (beginsLure[beginning] === 1 && LURES.has(textOf(others, start, end))) return LURE
  if (isSetOff) return SET_OFF + size
  return size < LEAST_RUN_ON || length < LEAST_FOR_RUN_ON ? TOO_MUCH : RUN_ON + size
}

/** The text without its hyphens: `sucursal-virtual` lures as `sucursalvirtual` does. */
function textOf(others: Uint8Array, start: number, end: number): string {
  return Buffer.from(others.buffer, others.byteOffset + start, end - start)
    .toString('latin1')
    .replaceAll('-', '')
}

export interface Inside {
  /** In tenths of an ordinary change; `TOO_MUCH` where it is not there. */
  readonly cost: number
  /** Where it begins and ends in the other name. */
  readonly from: number
  readonly to: number
}

const NOT_INSIDE: Inside = { cost: TOO_MUCH, from: 0, to: 0 }

/**
 * Looks for one name inside others, where it may be written with letters that look the same and with other hyphens; what
 * stands beside it costs by what it is.
 */
export class Containment {
  readonly #octets: Uint8Array
  /** At `j * width + i`: the least cost of i letters of ours that end at letter j of the other, and where they begin. */
  readonly #costs: Uint16Array
  readonly #begins: Uint8Array

  constructor(octets: Uint8Array) {
    this.#octets = octets
    this.#costs = new Uint16Array((octets.length + 1) * 64)
    this.#begins = new Uint8Array((octets.length + 1) * 64)
  }

  /** The cheapest place. */
  find(others: Uint8Array, start: number, end: number): Inside {
    const length = this.#octets.length
    const width = length + 1
    let best = NOT_INSIDE
    // Rows without a way through them: a change spans two at most.
    let dead = 2
    for (let j = 0; start + j <= end; j++) {
      const begins = this.#mayBegin(others, start + j, end)
      if (!begins && dead >= 2) {
        this.#costs.fill(TOO_MUCH, j * width, j * width + width)
        continue
      }
      dead = this.#fill(others, start, j, begins) ? 0 : dead + 1
      const cost = this.#costs[j * width + length] ?? TOO_MUCH
      // A hyphen before what follows belongs to neither.
      if (cost >= best.cost || others[start + j - 1] === HYPHEN) continue
      const total = cost + this.#after(others, start + j, end)
      if (total < best.cost) best = { cost: total, from: this.#begins[j * width + length] ?? 0, to: j }
    }
    return best
  }

  /** Whether the letters from here on may be our first. Spares looking at most words that stand before them. */
  #mayBegin(others: Uint8Array, at: number, end: number): boolean {
    if (at >= end) return false
    const letter = others[at] ?? 0
    const own = this.#octets[0] ?? 0
    if ((replacementCosts[pairKey(own, letter)] ?? 0) <= MOST_THAT_IS_ALIKE) return true
    if (pairOnes[pairKey(letter, others[at + 1] ?? 0)] === own) return true
    return pairOnes[pairKey(own, this.#octets[1] ?? 0)] === letter
  }

  #before(others: Uint8Array, start: number, end: number): number {
    if (start === end) return 0
    const isSetOff = others[end - 1] === HYPHEN
    return wordCost(others, start, isSetOff ? end - 1 : end, isSetOff, this.#octets.length)
  }

  #after(others: Uint8Array, start: number, end: number): number {
    if (start === end) return 0
    const isSetOff = others[start] === HYPHEN
    return wordCost(others, isSetOff ? start + 1 : start, end, isSetOff, this.#octets.length)
  }

  /**
   * The costs after letter j of the other.
   * @param begins whether ours may begin behind it
   * @returns whether there is a way through here
   */
  #fill(others: Uint8Array, start: number, j: number, begins: boolean): boolean {
    const octets = this.#octets
    const width = octets.length + 1
    const letter = j > 0 ? (others[start + j - 1] ?? 0) : 0
    const before = j > 1 ? (others[start + j - 2] ?? 0) : 0
    const pair = pairKey(before, letter)
    this.#set(j * width, begins ? this.#before(others, start, start + j) : TOO_MUCH, j)
    let least = this.#costs[j * width] ?? TOO_MUCH
    for (let i = 1; i < width; i++) {
      const own = octets[i - 1] ?? 0
      const place = j * width + i
      this.#set(place, TOO_MUCH, 0)
      if (own === HYPHEN && i > 1) this.#lower(place, place - 1, HYPHENATION)
      if (j === 0) continue
      if (letter === HYPHEN && i > 1) this.#lower(place, place - width, HYPHENATION)
      this.#lower(place, place - width - 1, replacementCosts[pairKey(own, letter)] ?? 0)
      if (j > 1 && pairOnes[pair] === own) this.#lower(place, place - 2 * width - 1, pairCosts[pair] ?? 0)
      const ownPair = i > 1 ? pairKey(octets[i - 2] ?? 0, own) : 0
      if (pairOnes[ownPair] === letter) this.#lower(place, place - width - 2, pairCosts[ownPair] ?? 0)
      least = Math.min(least, this.#costs[place] ?? TOO_MUCH)
    }
    return least < TOO_MUCH
  }

  #set(place: number, cost: number, begin: number): void {
    this.#costs[place] = cost
    this.#begins[place] = begin
  }

  #lower(place: number, from: number, change: number): void {
    if (change > MOST_THAT_IS_ALIKE) return
    const cost = Math.min(TOO_MUCH, (this.#costs[from] ?? TOO_MUCH) + change)
    if (cost < (this.#costs[place] ?? 0)) this.#set(place, cost, this.#begins[from] ?? 0)
  }
}
