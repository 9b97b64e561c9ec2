import {
  leastAdditionCost,
  octetsOf,
  omissionCost,
  pairCosts,
  pairKey,
  pairOnes,
  PLURAL,
  TOO_MUCH,
  TRANSPOSITION,
} from './alignment.ts'
import { HYPHEN, MAX_LOOK_ALIKE, replacementCosts } from './letters.ts'
import { Beside, type Vocabulary } from './vocabulary.ts'

/** Words that are put inside a brand: `bancodelestado` for `bancoestado`. */
export const CONNECTORS: readonly string[] = [
  'al',
  'de',
  'del',
  'el',
  'en',
  'la',
  'las',
  'los',
  'mi',
  'su',
  'tu',
]
/** What one of them costs, in tenths of an ordinary change. */
export const CONNECTOR = 8

/** The least that a text beside the brand costs. */
export const MIN_WORD_COST = 4
/** By `Beside`. All of it stays below two slips: a name that holds the whole brand is nearer than one two letters off. */
const COSTS: readonly number[] = [0, MIN_WORD_COST, 6, 10, 12, TOO_MUCH]
/** Added for a text of more letters that is no keyword, and for texts on both sides, of which the dearer counts. */
const LONG_TEXT = 8
const LONG_TEXT_COST = 1
const BOTH_SIDES_COST = 1

/**
 * What may stand beside a brand, by its length: the last entry that is not longer counts. `exact` is for one written with
 * look-alikes, `plain` for one written as it is, `changed` for one with a further change. Any text contains a short brand,
 * or one a letter away from a short brand, by chance.
 */
const ALLOWED: readonly {
  readonly length: number
  readonly exact: Beside
  readonly plain?: Beside
  readonly changed?: Beside
}[] = [
  { length: 2, exact: Beside.hyphenated, plain: Beside.words },
  { length: 4, exact: Beside.text },
  { length: 5, exact: Beside.text, changed: Beside.keywords },
  { length: 6, exact: Beside.text, changed: Beside.words },
  { length: 8, exact: Beside.text, changed: Beside.text },
]

/**
 * How many changes a brand of this length may have that has words beside it, look-alikes not counted; undefined if there are no
 * words beside it, as any name contains a single letter.
 */
export function changesInside(length: number): 0 | 1 | undefined {
  const allowed = allowedOf(length)
  if (allowed === undefined) return undefined
  return allowed.changed === undefined ? 0 : 1
}

function allowedOf(length: number) {
  return ALLOWED.findLast((allowed) => allowed.length <= length)
}

export interface Inside {
  /** In tenths of an ordinary change; `TOO_MUCH` if the brand is not there. */
  readonly cost: number
  /** Where it begins and ends in the other name. */
  readonly from: number
  readonly to: number
}

const NOT_INSIDE: Inside = { cost: TOO_MUCH, from: 0, to: 0 }

/** Longest name, and the rows of a table: a place before each letter and one after the last. */
const MAX_LENGTH = 63
/** Rows without a possible cost after which there is none: no change spans more, as what is inserted is one itself. */
const MAX_DEAD = 2

/**
 * Looks for a brand inside other names, written with look-alikes and other hyphens, and at most one further change, with words
 * beside it.
 */
export class Containment {
  readonly #octets: Uint8Array
  readonly #vocabulary: Vocabulary
  readonly #omissions: Uint8Array
  /** What may stand beside it, as `ALLOWED` says; -1 if it must not be there so. */
  readonly #plain: Beside | -1
  readonly #exact: Beside | -1
  readonly #changed: Beside | -1
  /** At `row * width + i`: the least cost of `i` letters of the brand in `row` letters, without a change and with one. */
  readonly #same: Uint16Array
  readonly #other: Uint16Array

  constructor(octets: Uint8Array, vocabulary: Vocabulary) {
    this.#octets = octets
    this.#vocabulary = vocabulary
    const allowed = allowedOf(octets.length)
    this.#exact = allowed?.exact ?? -1
    this.#plain = allowed?.plain ?? this.#exact
    this.#changed = allowed?.changed ?? -1
    this.#omissions = octets.map((letter, i) => omissionCost(letter, octets[i - 1] ?? 0))
    const size = (octets.length + 1) * (MAX_LENGTH + 2)
    this.#same = new Uint16Array(size)
    this.#other = new Uint16Array(size)
  }

  /** The cheapest place, the first of several. */
  find(others: Uint8Array, start: number, end: number): Inside {
    const name = Buffer.from(others.buffer, others.byteOffset + start, end - start).toString('latin1')
    const other = others.subarray(start, end)
    let best = NOT_INSIDE
    if (this.#exact < 0) return best
    const before = this.#vocabulary.before(name)
    let after: Uint8Array | undefined
    const most = Math.max(this.#plain, this.#exact, this.#changed)
    for (let from = 0; from < other.length; from++) {
      const left = before[from] ?? 0
      if (other[from] === HYPHEN || left > most || !this.#mayBegin(other, from)) continue
      for (let row = 1, dead = 0; from + row <= other.length && dead < MAX_DEAD; row++) {
        if (row === 1) this.#begin()
        dead = this.#fill(other, from, row) ? 0 : dead + 1
        const cost = this.#costAt(row, left)
        // A hyphen before what follows belongs to neither.
        if (cost >= best.cost || other[from + row - 1] === HYPHEN) continue
        after ??= this.#vocabulary.after(name)
        const right = after[from + row] ?? 0
        const words = wordsCost(left, from, right, other.length - from - row)
        const total = this.#costAt(row, Math.max(left, right)) + words
        if (total < best.cost) best = { cost: total, from, to: from + row }
      }
    }
    return best
  }

  /** The cost of the whole brand in so many letters, where such a text is beside it. */
  #costAt(row: number, beside: number): number {
    const last = row * (this.#octets.length + 1) + this.#octets.length
    const same = this.#same[last] ?? TOO_MUCH
    const cost = beside <= this.#exact || (same === 0 && beside <= this.#plain) ? same : TOO_MUCH
    return beside > this.#changed ? cost : Math.min(cost, this.#other[last] ?? TOO_MUCH)
  }

  /**
   * Whether the brand may begin there. Spares most places the table: one of its first two letters is there at its place, or
   * the second at the place of the first, each of them perhaps as two letters or joined with the next one.
   */
  #mayBegin(other: Uint8Array, from: number): boolean {
    const [first = 0, second = 0, third = 0] = this.#octets
    const [one = 0, two = 0, three = 0] = other.subarray(from, from + 3)
    if (second === HYPHEN || two === HYPHEN) return true
    return (
      isWrittenAs(first, second, one, two) ||
      (this.#changed >= 0 &&
        (isWrittenAs(second, third, one, two) ||
          isWrittenAs(second, third, two, three) ||
          // Two letters for one, or one for two, that nearly look like it.
          pairOnes[pairKey(one, two)] === first ||
          pairOnes[pairKey(first, second)] === one ||
          third === HYPHEN ||
          three === HYPHEN))
    )
  }

  /** The first row: no letter of the other name yet. */
  #begin(): void {
    const length = this.#octets.length
    this.#clear(0)
    this.#same[0] = 0
    for (let i = 1; i <= length; i++) this.#relax(i, i - 1, this.#omissions[i - 1] ?? 0)
  }

  #clear(row: number): void {
    const width = this.#octets.length + 1
    this.#same.fill(TOO_MUCH, row * width, (row + 1) * width)
    this.#other.fill(TOO_MUCH, row * width, (row + 1) * width)
  }

  /**
   * Costs after `row` letters of the other name from `from` on.
   * @returns whether any of them is possible
   */
  #fill(other: Uint8Array, from: number, row: number): boolean {
    const octets = this.#octets
    const length = octets.length
    const width = length + 1
    const at = from + row
    const letter = other[at - 1] ?? 0
    const before = row > 1 ? (other[at - 2] ?? 0) : 0
    const addition = leastAdditionCost(letter, before, other[at] ?? 0)
    const pair = row > 1 ? pairKey(before, letter) : 0
    const pairOne = pairOnes[pair] ?? 0
    const connectors = connectorsEnding(other, from, at)
    let isAlive = false
    this.#clear(row)
    for (let i = 1; i <= length; i++) {
      const place = row * width + i
      const above = place - width
      const own = octets[i - 1] ?? 0
      const ownBefore = i > 1 ? (octets[i - 2] ?? 0) : 0
      this.#relax(place, above - 1, replacementCosts[pairKey(own, letter)] ?? 0)
      if (i < length) {
        this.#relax(place, above, addition)
        for (const size of connectors) this.#relax(place, place - size * width, CONNECTOR)
      } else if (letter === PLURAL_LETTER) this.#relax(place, above, PLURAL)
      if (pairOne === own) this.#relax(place, above - width - 1, pairCosts[pair] ?? 0)
      if (i > 1) {
        const ownPair = pairKey(ownBefore, own)
        if (pairOnes[ownPair] === letter) this.#relax(place, above - 2, pairCosts[ownPair] ?? 0)
        const isSwapped = row > 1 && own === before && ownBefore === letter && own !== letter
        if (isSwapped) this.#relax(place, above - width - 2, TRANSPOSITION)
      }
      this.#relax(place, place - 1, this.#omissions[i - 1] ?? 0)
      if ((this.#same[place] ?? 0) < TOO_MUCH || (this.#other[place] ?? 0) < TOO_MUCH) isAlive = true
    }
    return isAlive
  }

  /** Comes to a place from another: a look-alike with or without a change so far, anything else as the one change. */
  #relax(place: number, source: number, price: number): void {
    const same = this.#same
    const other = this.#other
    const cost = (same[source] ?? TOO_MUCH) + price
    if (price > MAX_LOOK_ALIKE) {
      if (cost < (other[place] ?? 0)) other[place] = cost
      return
    }
    if (cost < (same[place] ?? 0)) same[place] = cost
    const changed = (other[source] ?? TOO_MUCH) + price
    if (changed < (other[place] ?? 0)) other[place] = changed
  }
}

/** Whether a letter of the brand, or it and the next one, may be drawn as these letters of the other name begin. */
function isWrittenAs(own: number, next: number, letter: number, after: number): boolean {
  return (
    (replacementCosts[pairKey(own, letter)] ?? 0) <= MAX_LOOK_ALIKE ||
    pairOnes[pairKey(letter, after)] === own ||
    pairOnes[pairKey(own, next)] === letter
  )
}

const PLURAL_LETTER = 's'.charCodeAt(0)

function wordsCost(left: number, leftLength: number, right: number, rightLength: number): number {
  const sides = [costOf(left, leftLength), costOf(right, rightLength)].filter((cost) => cost > 0)
  return sides.length === 0 ? 0 : Math.max(...sides) + (sides.length === 2 ? BOTH_SIDES_COST : 0)
}

function costOf(beside: number, length: number): number {
  const cost = COSTS[beside] ?? TOO_MUCH
  return beside >= Beside.hyphenated && length > LONG_TEXT ? cost + LONG_TEXT_COST : cost
}

/** By their last two letters. */
const connectorsByEnd = new Map<number, Uint8Array[]>()
for (const connector of CONNECTORS) {
  const octets = octetsOf(connector)
  const key = pairKey(octets.at(-2) ?? 0, octets.at(-1) ?? 0)
  connectorsByEnd.set(key, [...(connectorsByEnd.get(key) ?? []), octets])
}
const NONE: readonly number[] = []

/** Lengths of the connectors that stand before `at` and do not begin before `from`. */
function connectorsEnding(other: Uint8Array, from: number, at: number): readonly number[] {
  if (at - from < 2) return NONE
  const ending = connectorsByEnd.get(pairKey(other[at - 2] ?? 0, other[at - 1] ?? 0))
  if (ending === undefined) return NONE
  return ending
    .filter(
      (octets) =>
        at - octets.length >= from && octets.every((octet, i) => octet === other[at - octets.length + i]),
    )
    .map(({ length }) => length)
}
