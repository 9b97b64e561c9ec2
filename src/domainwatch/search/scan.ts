import { countBits, highestBit, lowestBit } from './bits.ts'
import { agentsOf, Candidates, candidatesIn } from './candidates.ts'
import type { Plan } from './plan.ts'
import type { Segment } from './segment.ts'
import { isBeyondPlanes, termsOf, type Terms } from './terms.ts'

/** Positions of a segment, from the first up to before the second. */
export type Range = readonly [from: number, to: number]

/**
 * Walks over the records of a segment that a plan wants, in one direction, and looks at no more of them than it takes. Of
 * 32 blocks of 32 records those are passed over that are no candidates; in the others the planes are combined; only what is
 * left is looked at one by one.
 */
export class Scan {
  readonly segment: Segment
  /** Of the record that was found; -1 when there is no further one. */
  position = -1
  readonly #plan: Plan
  readonly #candidates: Candidates
  readonly #terms: Terms
  readonly #agents: Uint8Array | undefined
  readonly #range: Range
  readonly #newestFirst: boolean
  /** Whether lengths have to be looked at one by one. */
  readonly #isBeyondPlanes: boolean
  /** Whether any record of it may be gone, or out of the bounds of `date_reg`. */
  readonly #mayBeGone: boolean
  readonly #isDated: boolean
  /** Of 32 blocks, which of them still wait, and what is left of each. */
  #stripe: number
  readonly #stripeEnd: number
  #waiting = 0
  readonly #left = new Uint32Array(32)
  /** Terms that are in it already. */
  #combined = 0
  #block = 0
  #bits = 0

  constructor(segment: Segment, plan: Plan, range: Range, newestFirst: boolean) {
    this.segment = segment
    this.#plan = plan
    const candidates = range[0] < range[1] ? candidatesIn(segment, plan) : undefined
    this.#range = candidates === undefined ? [0, 0] : range
    this.#candidates = candidates ?? NOWHERE
    this.#terms = candidates === undefined ? NO_TERMS : termsOf(segment, plan)
    this.#agents = plan.agent === undefined ? undefined : chosen(segment, plan.agent)
    this.#newestFirst = newestFirst
    this.#isBeyondPlanes = isBeyondPlanes(plan)
    this.#mayBeGone = segment.firstDiscarded <= plan.goneBefore
    this.#isDated =
      segment.columns.registered !== segment.columns.keys && (plan.from !== -Infinity || plan.to !== Infinity)
    const [from, to] = this.#range
    const [first, last] = [from >>> 10, to === 0 ? -1 : (to - 1) >>> 10]
    this.#stripe = newestFirst ? first - 1 : last + 1
    this.#stripeEnd = newestFirst ? last : first
  }

  /** Goes to the next match. @returns whether there is one */
  next(): boolean {
    for (;;) {
      while (this.#bits !== 0) {
        const bit = this.#newestFirst ? lowestBit(this.#bits) : highestBit(this.#bits)
        this.#bits ^= 1 << bit
        const position = (this.#block << 5) + bit
        if (this.#matches(position)) {
          this.position = position
          return true
        }
      }
      if (this.#waiting !== 0) {
        const next = this.#newestFirst ? lowestBit(this.#waiting) : highestBit(this.#waiting)
        this.#waiting ^= 1 << next
        this.#block = (this.#stripe << 5) + next
        const left = this.#combined === 0 ? this.segment.live[this.#block] : this.#left[next]
        this.#bits = this.#wanted(this.#block, left ?? 0)
      } else if (!this.#nextStripe()) {
        this.position = -1
        return false
      }
    }
  }

  /** Goes to the next 32 blocks that have candidates, and looks at what tells most. */
  #nextStripe(): boolean {
    const step = this.#newestFirst ? 1 : -1
    const candidates = this.#candidates
    const terms = this.#terms.places.length
    while (this.#stripe !== this.#stripeEnd) {
      this.#stripe += step
      let asked = candidates.of(this.#stripe)
      this.#combined = 0
      while (this.#combined < terms && countBits(asked) > FEW_BLOCKS) asked &= this.#combine()
      if (asked !== 0) {
        this.#waiting = asked
        return true
      }
    }
    return false
  }

  /** Combines the bits of 32 blocks with the next of the terms. @returns which blocks have any left */
  #combine(): number {
    const { live, words, columns } = this.segment
    const { places, inverted } = this.#terms
    const first = this.#stripe << 5
    const isFirst = this.#combined === 0
    const term = this.#combined
    const last = places.length - 1
    // In the place of one that is missing the last is read again.
    const second = Math.min(term + 1, last)
    const third = Math.min(term + 2, last)
    this.#combined += AT_ONCE
    return combine(
      this.#left,
      // The last ones may be less than 32.
      Math.min(32, words - first),
      isFirst ? live : this.#left,
      isFirst ? first : 0,
      columns.planes,
      (places[term] ?? 0) + first,
      inverted[term] ?? 0,
      (places[second] ?? 0) + first,
      inverted[second] ?? 0,
      (places[third] ?? 0) + first,
      inverted[third] ?? 0,
    )
  }

  /** Of these records of a block, those whose other bits are as wanted too. */
  #wanted(block: number, given: number): number {
    const { planes } = this.segment.columns
    const { places, inverted } = this.#terms
    let bits = given
    for (let i = this.#combined; bits !== 0 && i < places.length; i++) {
      bits &= (planes[(places[i] ?? 0) + block] ?? 0) ^ (inverted[i] ?? 0)
    }
    const [from, to] = this.#range
    const start = block << 5
    if (bits === 0 || start + 32 <= from || start >= to) return 0
    if (start < from) bits &= -1 << (from - start)
    if (start + 32 > to) bits &= -1 >>> (start + 32 - to)
    return bits
  }

  #matches(position: number): boolean {
    const plan = this.#plan
    const { segment } = this
    if (this.#mayBeGone && segment.discardedAt(position) <= plan.goneBefore) return false
    if (this.#isDated) {
      const date = segment.columns.registered[position] ?? 0
      if (date < plan.from || date > plan.to) return false
    }
    if (this.#isBeyondPlanes && !isOfLength(segment, position, plan)) return false
    if (this.#agents !== undefined && this.#agents[segment.columns.agent[position] ?? 0] === 0) return false
    for (const test of plan.tests) if (!test.holds(segment, position)) return false
    return true
  }
}

/** Terms that are read for 32 blocks at once. */
const AT_ONCE = 3
/** Of 32 blocks up to so many are looked at one by one. */
const FEW_BLOCKS = 4

const NOWHERE = new Candidates([])
const NO_TERMS: Terms = { places: new Int32Array(0), inverted: new Int32Array(0) }

/** For each agent whether its records are wanted. */
function chosen(segment: Segment, text: string): Uint8Array {
  const wanted = new Uint8Array(segment.foldedAgents.length)
  for (const agent of agentsOf(segment, text)) wanted[agent] = 1
  return wanted
}

function isOfLength({ columns: { starts } }: Segment, position: number, plan: Plan): boolean {
  const length = (starts[position + 1] ?? 0) - (starts[position] ?? 0)
  return length >= plan.minLength && length <= plan.maxLength
}

/**
 * What words (from a place on) have left in common with three runs of words (from places on, inverted by an exclusive or).
 * The hottest loop of a search.
 * @returns which of the words have any bit left
 */
function combine(
  left: Uint32Array,
  count: number,
  given: Uint32Array,
  from: number,
  planes: Uint32Array,
  a: number,
  notA: number,
  b: number,
  notB: number,
  c: number,
  notC: number,
): number {
  let some = 0
  for (let i = 0; i < count; i++) {
    const bits =
      (given[from + i] ?? 0) &
      ((planes[a + i] ?? 0) ^ notA) &
      ((planes[b + i] ?? 0) ^ notB) &
      ((planes[c + i] ?? 0) ^ notC)
    left[i] = bits
    // Its highest bit says whether it is zero, without a branch.
    some |= ((bits | -bits) >>> 31) << i
  }
  return some
}
