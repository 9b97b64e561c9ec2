import { MAX_LENGTH, type Plan } from './plan.ts'
import type { Segment } from './segment.ts'
import { lengthPlane, LONGEST_PLANE } from './signatures.ts'

/** Planes whose bits a match has, or has not. */
export interface Terms {
  /** Where the words of each plane begin. */
  readonly places: Int32Array
  /** All ones where the bit must not be set. */
  readonly inverted: Int32Array
}

interface Term {
  readonly plane: number
  readonly inverted: number
  /** How many records it leaves, or as it were leaves: the fewer, the sooner it is read. */
  readonly left: number
}

/** A signature that more of the records have tells too little to be read. */
const COMMON = 0.7
/** So many signatures tell as much as all of them: those that are left are of common letters that follow from each other. */
const MAX_SIGNATURES = 16

/** The terms, those that leave the fewest records first: as a rule two or three tell that a block has none. */
export function termsOf(segment: Segment, plan: Plan): Terms {
  const { count, blocks } = segment.columns
  const has = (plane: number) => blocks.planeCounts[plane] ?? 0
  const exact: Term[] = [
    ...plan.set.map((plane) => ({ plane, inverted: 0, left: has(plane) })),
    ...plan.unset.map((plane) => ({ plane, inverted: -1, left: count - has(plane) })),
    ...lengthTerms(plan, count, has),
  ]
  const signatures = Array.from(new Set(plan.tests.flatMap(({ planes }) => planes)), (plane) => ({
    plane,
    inverted: 0,
    left: has(plane),
  }))
    .filter(({ left }) => left < COMMON * count)
    .toSorted(fewestFirst)
    .slice(0, MAX_SIGNATURES)
  const terms = [...exact, ...signatures].toSorted(fewestFirst)
  return {
    places: Int32Array.from(terms, ({ plane }) => plane * segment.words),
    inverted: Int32Array.from(terms, ({ inverted }) => inverted),
  }
}

const fewestFirst = (one: Term, other: Term): number => one.left - other.left

/** The bounds that planes tell; `isBeyondPlanes` says of the others. */
function lengthTerms({ minLength, maxLength }: Plan, count: number, has: (plane: number) => number): Term[] {
  const least = Math.min(minLength, LONGEST_PLANE)
  const above = maxLength + 1
  const isBoundBelow = least > 1
  const isBoundAbove = above <= LONGEST_PLANE
  const tooShort = isBoundBelow ? count - has(lengthPlane(least)) : 0
  const tooLong = isBoundAbove ? has(lengthPlane(above)) : 0
  const both = Math.max(0, count - tooShort - tooLong)
  // Two together leave what each of them as it were leaves a part of.
  const left = isBoundBelow && isBoundAbove ? Math.sqrt(both * count) : both
  const terms: Term[] = []
  if (isBoundBelow) terms.push({ plane: lengthPlane(least), inverted: 0, left })
  if (isBoundAbove) terms.push({ plane: lengthPlane(above), inverted: -1, left })
  return terms
}

/** Whether a bound is among lengths that planes do not tell apart. */
export const isBeyondPlanes = ({ minLength, maxLength }: Plan): boolean =>
  minLength > LONGEST_PLANE || (maxLength >= LONGEST_PLANE && maxLength < MAX_LENGTH)
