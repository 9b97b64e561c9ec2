import { SIGNATURE_PLANES } from './blocks.ts'
import { LENGTH_BITS, Plane } from './columns.ts'
import { agentsOf, candidatesIn, MAX_LENGTH, type Plan } from './plan.ts'
import type { Segment } from './segment.ts'

/** Positions of a segment, from the first up to before the second. */
export type Range = readonly [from: number, to: number]

/**
 * Walks over the records of a segment that a plan wants, in one direction, and looks at no more of them than it takes. A
 * block of 32 records is passed over where no candidate says otherwise; then its bits are combined; only what is left is
 * looked at one by one.
 */
export class Scan {
  readonly segment: Segment
  /** Of the record that was found; -1 when there is no further one. */
  position = -1
  readonly #plan: Plan
  readonly #candidates: Uint32Array | undefined
  /** Planes of signatures that a match has. */
  readonly #signature: readonly number[]
  readonly #agents: Uint8Array | undefined
  readonly #range: Range
  readonly #newestFirst: boolean
  readonly #bounds: boolean
  /** Whether any record of it may be gone, or out of the bounds of `date_reg`. */
  readonly #mayBeGone: boolean
  readonly #isDated: boolean
  #block: number
  #bits = 0

  constructor(segment: Segment, plan: Plan, range: Range, newestFirst: boolean) {
    this.segment = segment
    this.#plan = plan
    const candidates = range[0] < range[1] ? candidatesIn(segment, plan) : 'nowhere'
    this.#range = candidates === 'nowhere' ? [0, 0] : range
    this.#candidates = candidates === 'nowhere' ? undefined : candidates
    this.#signature = plan.tests.flatMap(({ planes }) => planes)
    this.#agents = plan.agent === undefined ? undefined : chosen(segment, plan.agent)
    this.#newestFirst = newestFirst
    this.#bounds = plan.minLength > 1 || plan.maxLength < MAX_LENGTH
    this.#mayBeGone = segment.firstDiscarded <= plan.goneBefore
    this.#isDated =
      segment.columns.registered !== segment.columns.keys && (plan.from !== -Infinity || plan.to !== Infinity)
    const [from, to] = this.#range
    this.#block = newestFirst ? (from >>> 5) - 1 : to === 0 ? 0 : ((to - 1) >>> 5) + 1
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
      if (!this.#nextBlock()) {
        this.position = -1
        return false
      }
    }
  }

  #nextBlock(): boolean {
    const [from, to] = this.#range
    if (this.#newestFirst) {
      const next =
        this.#candidates === undefined ? this.#block + 1 : firstFrom(this.#candidates, this.#block + 1)
      if (next << 5 >= to) return false
      this.#block = next
    } else {
      const next =
        this.#candidates === undefined ? this.#block - 1 : lastUpTo(this.#candidates, this.#block - 1)
      if (next < 0 || (next << 5) + 32 <= from) return false
      this.#block = next
    }
    this.#bits = this.#wanted(this.#block)
    return true
  }

  /** The records of a block whose bits are as wanted. */
  #wanted(block: number): number {
    const { words, live, columns } = this.segment
    const { planes } = columns
    let bits = live[block] ?? 0
    for (const plane of this.#plan.set) bits &= planes[plane * words + block] ?? 0
    for (const plane of this.#plan.unset) bits &= ~(planes[plane * words + block] ?? 0)
    if (bits !== 0 && this.#bounds) bits &= this.#ofLength(block)
    const { signatures } = columns.blocks
    for (let i = 0; bits !== 0 && i < this.#signature.length; i++) {
      bits &= signatures[block * SIGNATURE_PLANES + (this.#signature[i] ?? 0)] ?? 0
    }
    const [from, to] = this.#range
    const start = block << 5
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

/** For each agent whether its records are wanted. */
function chosen(segment: Segment, text: string): Uint8Array {
  const wanted = new Uint8Array(segment.foldedAgents.length)
  for (const agent of agentsOf(segment, text)) wanted[agent] = 1
  return wanted
}

/** No segment has as many blocks. */
const NO_BLOCK = 0x3ff_ffff

/** The first of the blocks from `block` on. */
function firstFrom(blocks: Uint32Array, block: number): number {
  let word = block >>> 5
  let bits = (blocks[word] ?? 0) & (-1 << (block & 31))
  while (bits === 0) {
    if (++word >= blocks.length) return NO_BLOCK
    bits = blocks[word] ?? 0
  }
  return (word << 5) + lowestBit(bits)
}

/** The last of the blocks up to `block`; -1 when there is none. */
function lastUpTo(blocks: Uint32Array, block: number): number {
  if (block < 0) return -1
  let word = block >>> 5
  let bits = (blocks[word] ?? 0) & (-1 >>> (31 - (block & 31)))
  while (bits === 0) {
    if (--word < 0) return -1
    bits = blocks[word] ?? 0
  }
  return (word << 5) + highestBit(bits)
}

const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
const highestBit = (bits: number): number => 31 - Math.clz32(bits)
