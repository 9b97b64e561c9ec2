import { highestBit, lowestBit } from './bits.ts'
import { agentsOf, Candidates, CHUNK, rowsIn } from './candidates.ts'
import type { Plan } from './plan.ts'
import type { Segment } from './segment.ts'
import { isBeyondPlanes, setTerms, Terms } from './terms.ts'

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
  readonly #memory: Memory
  readonly #agents: Uint8Array | undefined
  readonly #range: Range
  readonly #newestFirst: boolean
  /** Whether lengths have to be looked at one by one. */
  readonly #isBeyondPlanes: boolean
  /** Whether any record of it may be gone, or out of the bounds of `date_reg`. */
  readonly #mayBeGone: boolean
  readonly #isDated: boolean
  /** Of 32 blocks, which of them still wait. */
  #stripe: number
  readonly #stripeEnd: number
  #waiting = 0
  #block = 0
  #bits = 0
  #isEnded = false

  constructor(segment: Segment, plan: Plan, range: Range, newestFirst: boolean) {
    this.segment = segment
    this.#plan = plan
    const rows = range[0] < range[1] ? rowsIn(segment, plan) : undefined
    this.#range = rows === undefined ? NOWHERE : range
    this.#memory = spare.pop() ?? {
      words: new Uint32Array(CHUNK),
      left: new Uint32Array(32),
      terms: new Terms(),
    }
    this.#candidates = new Candidates(rows ?? [], this.#memory.words)
    if (rows !== undefined) setTerms(this.#memory.terms, segment, plan)
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
        this.#bits = this.#inRange(this.#block, this.#memory.left[next] ?? 0)
      } else if (!this.#nextStripe()) {
        this.end()
        return false
      }
    }
  }

  /** To be called when no further one is wanted: then there is none, and what it worked with is for others. */
  end(): void {
    this.position = -1
    this.#bits = 0
    this.#waiting = 0
    this.#stripe = this.#stripeEnd
    if (!this.#isEnded && spare.length < MAX_SPARE) spare.push(this.#memory)
    this.#isEnded = true
  }

  /** Goes to the next 32 blocks that have anything left. */
  #nextStripe(): boolean {
    const step = this.#newestFirst ? 1 : -1
    const { live, words, columns } = this.segment
    const { left, terms } = this.#memory
    const { places, inverted } = terms
    const last = terms.count - 1
    while (this.#stripe !== this.#stripeEnd) {
      this.#stripe += step
      const first = this.#stripe << 5
      let asked = this.#candidates.of(this.#stripe)
      // The last ones may be less than 32.
      if (words - first < 32) asked &= (1 << (words - first)) - 1
      if (asked === 0) continue
      if (last < 0) take(left, asked, live, first)
      for (let term = 0; term <= last && asked !== 0; term += AT_ONCE) {
        // In the place of one that is missing the last is read again.
        const second = Math.min(term + 1, last)
        const third = Math.min(term + 2, last)
        asked = combine(
          left,
          asked,
          term === 0 ? live : left,
          term === 0 ? first : 0,
          columns.planes,
          (places[term] ?? 0) + first,
          inverted[term] ?? 0,
          (places[second] ?? 0) + first,
          inverted[second] ?? 0,
          (places[third] ?? 0) + first,
          inverted[third] ?? 0,
        )
      }
      if (asked !== 0) {
        this.#waiting = asked
        return true
      }
    }
    return false
  }

  /** Of these records of a block, those that are in the range. */
  #inRange(block: number, given: number): number {
    const [from, to] = this.#range
    const start = block << 5
    if (start + 32 <= from || start >= to) return 0
    let bits = given
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

const NOWHERE: Range = [0, 0]

/** What a scan works with. To make it costs as much as many a search: what one has ended with the next one takes. */
interface Memory {
  readonly words: Uint32Array
  /** Of 32 blocks, the records that are left. */
  readonly left: Uint32Array
  readonly terms: Terms
}

const spare: Memory[] = []
/** As many as there are segments, and some more. Half a kilobyte each. */
const MAX_SPARE = 64

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

/** Copies the asked of 32 words from a place on. */
function take(to: Uint32Array, asked: number, words: Uint32Array, from: number): void {
  for (let rest = asked; rest !== 0; rest &= rest - 1) {
    const i = lowestBit(rest)
    to[i] = words[from + i] ?? 0
  }
}

/**
 * What three runs of words (from places on, inverted by an exclusive or) leave of the asked of 32 words of a fourth. The
 * hottest loop of a search.
 * @returns which of the words have any bit left
 */
function combine(
  left: Uint32Array,
  asked: number,
  words: Uint32Array,
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
  for (let rest = asked; rest !== 0; rest &= rest - 1) {
    const i = lowestBit(rest)
    const bits =
      (words[from + i] ?? 0) &
      ((planes[a + i] ?? 0) ^ notA) &
      ((planes[b + i] ?? 0) ^ notB) &
      ((planes[c + i] ?? 0) ^ notC)
    left[i] = bits
    // Its highest bit says whether it is zero, without a branch.
    some |= ((bits | -bits) >>> 31) << i
  }
  return some
}
