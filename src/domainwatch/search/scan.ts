import { countBits, highestBit, lowestBit } from './bits.ts'
import { LENGTH_BITS, Plane } from './columns.ts'
import { agentsOf, candidatesIn, MAX_LENGTH, type Plan } from './plan.ts'
import type { Segment } from './segment.ts'
import { FIRST_SIGNATURE } from './signatures.ts'

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
  readonly #candidates: Uint32Array | undefined
  readonly #terms: Terms
  readonly #agents: Uint8Array | undefined
  readonly #range: Range
  readonly #newestFirst: boolean
  readonly #bounds: boolean
  /** Whether any record of it may be gone, or out of the bounds of `date_reg`. */
  readonly #mayBeGone: boolean
  readonly #isDated: boolean
  /** Of 32 blocks, which of them still wait, and what is left of each. */
  #stripe: number
  readonly #stripeEnd: number
  #waiting = 0
  readonly #left = new Int32Array(32)
  /** Terms that are in it already. */
  #combined = 0
  #block = 0
  #bits = 0

  constructor(segment: Segment, plan: Plan, range: Range, newestFirst: boolean) {
    this.segment = segment
    this.#plan = plan
    const candidates = range[0] < range[1] ? candidatesIn(segment, plan) : 'nowhere'
    this.#range = candidates === 'nowhere' ? [0, 0] : range
    this.#candidates = candidates === 'nowhere' ? undefined : candidates
    this.#terms = termsOf(segment, plan)
    this.#agents = plan.agent === undefined ? undefined : chosen(segment, plan.agent)
    this.#newestFirst = newestFirst
    this.#bounds = plan.minLength > 1 || plan.maxLength < MAX_LENGTH
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
        this.#bits = this.#wanted(this.#block, this.#left[next] ?? 0)
      } else if (!this.#nextStripe()) {
        this.position = -1
        return false
      }
    }
  }

  /** Goes to the next 32 blocks that have candidates, and looks at what tells most. */
  #nextStripe(): boolean {
    const candidates = this.#candidates
    const step = this.#newestFirst ? 1 : -1
    let asked = 0
    while (asked === 0) {
      if (this.#stripe === this.#stripeEnd) return false
      this.#stripe += step
      asked = candidates === undefined ? -1 : (candidates[this.#stripe] ?? 0)
    }
    const first = this.#stripe << 5
    const { places } = this.#terms
    const left = this.#left
    // The last ones may be less than 32.
    left.fill(0)
    left.set(this.segment.live.subarray(first, first + 32))
    this.#combined = 0
    while (this.#combined < places.length && countBits(asked) > FEW_BLOCKS) {
      asked &= this.#combine(first)
      this.#combined += AT_ONCE
    }
    this.#waiting = asked
    return true
  }

  /** Combines the bits of 32 blocks with the next of the terms. @returns which blocks have any left */
  #combine(first: number): number {
    const { planes } = this.segment.columns
    const { places, inverted } = this.#terms
    const term = this.#combined
    const last = places.length - 1
    // In the place of one that is missing the last is read again.
    const second = Math.min(term + 1, last)
    const third = Math.min(term + 2, last)
    return combine(
      this.#left,
      planes,
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
    if (this.#bounds) bits &= this.#ofLength(block)
    if (start < from) bits &= -1 << (from - start)
    if (start + 32 > to) bits &= -1 >>> (start + 32 - to)
    return bits
  }

  /** Compares 32 lengths at once with the bounds, from their highest bit down. */
  #ofLength(block: number): number {
    const { minLength, maxLength } = this.#plan
    const { words, columns } = this.segment
    let below = 0
    let above = 0
    let isMin = -1
    let isMax = -1
    for (let bit = LENGTH_BITS - 1; bit >= 0; bit--) {
      const has = columns.planes[(Plane.length + bit) * words + block] ?? 0
      if (((maxLength >>> bit) & 1) === 1) {
        below |= isMax & ~has
        isMax &= has
      } else isMax &= ~has
      if (((minLength >>> bit) & 1) === 0) {
        above |= isMin & has
        isMin &= ~has
      } else isMin &= has
    }
    return (below | isMax) & (above | isMin)
  }

  #matches(position: number): boolean {
    const plan = this.#plan
    const { segment } = this
    if (this.#mayBeGone && segment.discardedAt(position) <= plan.goneBefore) return false
    if (this.#isDated) {
      const date = segment.columns.registered[position] ?? 0
      if (date < plan.from || date > plan.to) return false
    }
    if (this.#agents !== undefined && this.#agents[segment.columns.agent[position] ?? 0] === 0) return false
    for (const test of plan.tests) if (!test.holds(segment, position)) return false
    return true
  }
}

/** Planes whose bits a match has, or has not. */
interface Terms {
  /** Where the words of each plane begin. */
  readonly places: Int32Array
  /** All ones where the bit must not be set. */
  readonly inverted: Int32Array
}

/** Terms that are read for 32 blocks at once. */
const AT_ONCE = 3
/** Of 32 blocks up to so many are looked at one by one. */
const FEW_BLOCKS = 4
/** A signature that more of the records have tells too little to be read. */
const COMMON = 0.7

/** The terms, those that leave the fewest records first: as a rule two or three tell that a block has none. */
function termsOf(segment: Segment, plan: Plan): Terms {
  const { count, blocks } = segment.columns
  const has = (plane: number) => blocks.planeCounts[plane] ?? 0
  const signatures = new Set(plan.tests.flatMap(({ planes }) => planes))
  const terms = [
    ...[...plan.set, ...signatures].map((plane) => ({ plane, inverted: 0, left: has(plane) })),
    ...plan.unset.map((plane) => ({ plane, inverted: -1, left: count - has(plane) })),
  ]
  const telling = terms
    .filter(({ plane, left }) => plane < FIRST_SIGNATURE || left < COMMON * count)
    .toSorted((one, other) => one.left - other.left)
  return {
    places: Int32Array.from(telling, ({ plane }) => plane * segment.words),
    inverted: Int32Array.from(telling, ({ inverted }) => inverted),
  }
}

/** For each agent whether its records are wanted. */
function chosen(segment: Segment, text: string): Uint8Array {
  const wanted = new Uint8Array(segment.foldedAgents.length)
  for (const agent of agentsOf(segment, text)) wanted[agent] = 1
  return wanted
}

/**
 * Takes out of 32 words what three runs of words (from places on, inverted by an exclusive or) do not have. The hottest loop
 * of a search.
 * @returns which of the words have any bit left
 */
function combine(
  left: Int32Array,
  planes: Uint32Array,
  a: number,
  notA: number,
  b: number,
  notB: number,
  c: number,
  notC: number,
): number {
  let some = 0
  for (let i = 0; i < 32; i++) {
    const bits =
      (left[i] ?? 0) &
      ((planes[a + i] ?? 0) ^ notA) &
      ((planes[b + i] ?? 0) ^ notB) &
      ((planes[c + i] ?? 0) ^ notC)
    left[i] = bits
    // Its highest bit says whether it is zero, without a branch.
    some |= ((bits | -bits) >>> 31) << i
  }
  return some
}
