import type { Automaton } from './automaton.ts'
import { type Distance, TOO_MUCH } from './distance.ts'
import { HYPHEN } from './letters.ts'
import { Adjacent, type Vocabulary } from './vocabulary.ts'

/** The least that a text next to the brand costs. */
export const MIN_WORD_COST = 4
/** By `Adjacent`. All are below two edits: a name that contains the whole brand is nearer than one with two edits. */
const WORD_COSTS: readonly number[] = [0, MIN_WORD_COST, 6, 10, 12, TOO_MUCH]
/**
 * Added for a longer text that is not a keyword, and for texts on both sides, of which the more expensive one
 * counts.
 */
const LONG_TEXT = 8
const LONG_TEXT_COST = 1
const BOTH_SIDES_COST = 1

/**
 * What may be next to a brand, by its length: the last entry that is not longer applies. `exact` is for a brand written with
 * homoglyphs, `plain` for one written as it is, `edited` for one with a further edit. Any text contains a short brand, or one
 * a letter away from a short brand, by chance.
 */
const ALLOWED: readonly {
  readonly length: number
  readonly exact: Adjacent
  readonly plain?: Adjacent
  readonly edited?: Adjacent
}[] = [
  { length: 2, exact: Adjacent.hyphenated, plain: Adjacent.words },
  { length: 5, exact: Adjacent.text, edited: Adjacent.keywords },
  { length: 6, exact: Adjacent.text, edited: Adjacent.words },
  { length: 8, exact: Adjacent.text, edited: Adjacent.text },
]

/** Brands up to this length are not looked for in names that consist of other words. */
const MAX_CHANCE_LENGTH = 4

/** Rows without a possible cost after which there is none: no step spans more. */
const MAX_DEAD_ROWS = 2

export interface Place {
  /** In tenths of an ordinary change; `TOO_MUCH` if the brand is not there. */
  readonly cost: number
  /** Where it begins and ends in the other name. */
  readonly from: number
  readonly to: number
}

const NOWHERE: Place = { cost: TOO_MUCH, from: 0, to: 0 }

const allowedNextTo = (length: number) => ALLOWED.findLast((allowed) => allowed.length <= length)

/** Returns how many edits a brand inside another name may have, homoglyphs not counted; undefined if it is too short. */
export function editsInside(length: number): 0 | 1 | undefined {
  const allowed = allowedNextTo(length)
  return allowed && (allowed.edited === undefined ? 0 : 1)
}

/**
 * Looks for a brand inside other names: written with homoglyphs and other hyphens, and with at most one further edit, with
 * words next to it.
 */
export class Containment {
  readonly #automaton: Automaton
  readonly #distance: Distance
  readonly #vocabulary: Vocabulary
  readonly #brand: string
  readonly #plain: Adjacent | -1
  readonly #exact: Adjacent | -1
  readonly #edited: Adjacent | -1

  constructor(own: Uint8Array, distance: Distance, automaton: Automaton, vocabulary: Vocabulary) {
    const allowed = allowedNextTo(own.length)
    this.#automaton = automaton
    this.#distance = distance
    this.#vocabulary = vocabulary
    this.#brand = Buffer.from(own).toString('latin1')
    this.#exact = allowed?.exact ?? -1
    this.#plain = allowed?.plain ?? this.#exact
    this.#edited = allowed?.edited ?? -1
  }

  /** Returns the cheapest match, the first of several. */
  find(others: Uint8Array, start: number, end: number): Place {
    if (this.#exact < 0) return NOWHERE
    const other = others.subarray(start, end)
    const name = Buffer.from(others.buffer, others.byteOffset + start, end - start).toString('latin1')
    const before = this.#vocabulary.before(name)
    let after: Uint8Array | undefined
    let best = NOWHERE
    const most = Math.max(this.#plain, this.#exact, this.#edited)
    for (let from = 0; from < other.length; from++) {
      const left = before[from] ?? 0
      const edits = left > this.#edited ? 0 : 1
      if (other[from] === HYPHEN || left > most) continue
      if (!this.#automaton.isBeginning(other, from, other.length, edits)) continue
      this.#distance.beginInside()
      for (let size = 1, dead = 0; from + size <= other.length && dead < MAX_DEAD_ROWS; size++) {
        dead = this.#distance.extendInside(other, from, size, edits) ? 0 : dead + 1
        // A hyphen before the following text belongs to neither.
        if (this.#getCost(size, left) >= best.cost || other[from + size - 1] === HYPHEN) continue
        after ??= this.#vocabulary.after(name)
        const right = after[from + size] ?? 0
        const words = wordsCost(left, from, right, other.length - from - size)
        const cost = this.#getCost(size, Math.max(left, right)) + words
        if (cost < best.cost) best = { cost, from, to: from + size }
      }
    }
    return best.cost < TOO_MUCH && this.#isByChance(name) ? NOWHERE : best
  }

  #isByChance(name: string): boolean {
    return this.#brand.length <= MAX_CHANCE_LENGTH && this.#vocabulary.isWords(name, this.#brand)
  }

  /** Returns the cost of the brand in `size` letters if `adjacent` is the least indicative text next to it. */
  #getCost(size: number, adjacent: number): number {
    const exact = this.#distance.insideCost(size, 0)
    const cost = adjacent <= this.#exact || (exact === 0 && adjacent <= this.#plain) ? exact : TOO_MUCH
    return adjacent > this.#edited ? cost : Math.min(cost, this.#distance.insideCost(size, 1))
  }
}

function wordsCost(left: number, leftLength: number, right: number, rightLength: number): number {
  const sides = [wordCost(left, leftLength), wordCost(right, rightLength)].filter((cost) => cost > 0)
  return sides.length === 0 ? 0 : Math.max(...sides) + (sides.length === 2 ? BOTH_SIDES_COST : 0)
}

function wordCost(adjacent: number, length: number): number {
  const cost = WORD_COSTS[adjacent] ?? TOO_MUCH
  return adjacent >= Adjacent.hyphenated && length > LONG_TEXT ? cost + LONG_TEXT_COST : cost
}
