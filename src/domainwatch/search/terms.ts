import { MAX_LENGTH, type Plan } from './plan.ts'
import type { Segment } from './segment.ts'
import { lengthPlane, LONGEST_PLANE } from './signatures.ts'

/** A signature that more of the records have tells too little to be read. */
const COMMON = 0.7
/** So many signatures tell as much as all of them: those that are left are of common letters that follow from each other. */
const MAX_SIGNATURES = 16
/** Of marks and lengths there are fewer. */
const MAX_TERMS = 32

/** Planes whose bits a match has, or has not, those that leave the fewest records first. */
export class Terms {
  /** Where the words of each plane begin. */
  readonly places = new Int32Array(MAX_TERMS)
  /** All ones where the bit must not be set. */
  readonly inverted = new Int32Array(MAX_TERMS)
  /** How many records each leaves, or as it were leaves. */
  readonly #left = new Float64Array(MAX_TERMS)
  #count = 0

  get count(): number {
    return this.#count
  }

  clear(): void {
    this.#count = 0
  }

  /** @param most terms there may be: past it the one that leaves the most records goes */
  add(place: number, inverted: number, left: number, most: number): void {
    const lefts = this.#left
    if (this.#count < most) this.#count++
    else if (left >= (lefts[most - 1] ?? 0)) return
    let at = this.#count - 1
    for (; at > 0 && (lefts[at - 1] ?? 0) > left; at--) {
      this.places[at] = this.places[at - 1] ?? 0
      this.inverted[at] = this.inverted[at - 1] ?? 0
      lefts[at] = lefts[at - 1] ?? 0
    }
    this.places[at] = place
    this.inverted[at] = inverted
    lefts[at] = left
  }
}

/** Sets the terms of a plan: as a rule two or three tell that a block has no match. */
export function setTerms(terms: Terms, { words, columns }: Segment, plan: Plan): void {
  const { count, blocks } = columns
  const { planeCounts } = blocks
  terms.clear()
  for (const plane of plan.signatures) {
    const left = planeCounts[plane] ?? 0
    if (left < COMMON * count) terms.add(plane * words, 0, left, MAX_SIGNATURES)
  }
  for (const plane of plan.set) terms.add(plane * words, 0, planeCounts[plane] ?? 0, MAX_TERMS)
  for (const plane of plan.unset) terms.add(plane * words, -1, count - (planeCounts[plane] ?? 0), MAX_TERMS)
  const { minLength, maxLength } = plan
  const least = Math.min(minLength, LONGEST_PLANE)
  const above = maxLength + 1
  const isBoundBelow = least > 1
  const isBoundAbove = above <= LONGEST_PLANE
  const tooShort = isBoundBelow ? count - (planeCounts[lengthPlane(least)] ?? 0) : 0
  const tooLong = isBoundAbove ? (planeCounts[lengthPlane(above)] ?? 0) : 0
  const both = Math.max(0, count - tooShort - tooLong)
  // Two together leave what each of them as it were leaves a part of.
  const left = isBoundBelow && isBoundAbove ? Math.sqrt(both * count) : both
  if (isBoundBelow) terms.add(lengthPlane(least) * words, 0, left, MAX_TERMS)
  if (isBoundAbove) terms.add(lengthPlane(above) * words, -1, left, MAX_TERMS)
}

/** Whether a bound is among lengths that planes do not tell apart. */
export const isBeyondPlanes = ({ minLength, maxLength }: Plan): boolean =>
  minLength > LONGEST_PLANE || (maxLength >= LONGEST_PLANE && maxLength < MAX_LENGTH)
