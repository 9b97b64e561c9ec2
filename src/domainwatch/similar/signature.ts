import { HYPHEN, LEAST_CHANGE, pairOf, PAIRS, signs } from './letters.ts'

/**
 * A few bits of a name that settle for most names that they do not resemble another: which letters it has, those that
 * look the same being one, and how many, a letter that looks like two being two. Neither hyphens nor what looks the same
 * leave a trace in it.
 */

/** Above the signs. */
const COUNT_SHIFT = 24
const SIGNS = (1 << COUNT_SHIFT) - 1
/** Of one letter, or of two that look nearly like one. */
const MOST_SIGNS = 2
const MOST_LETTERS = 2

/** By letter: its signs, and how many it counts for. */
const traces = new Uint32Array(256)
for (let letter = 0; letter < 256; letter++) {
  if (letter !== HYPHEN) traces[letter] = 1 << COUNT_SHIFT
}
for (const { one, cost } of PAIRS) if (cost < LEAST_CHANGE) traces[one.charCodeAt(0)] = 2 << COUNT_SHIFT

export function signatureOf(octets: Uint8Array, start: number, end: number): number {
  let found = 0
  let count = 0
  for (let at = start; at < end; at++) {
    const letter = octets[at] ?? 0
    found |= signs[letter] ?? 0
    count += traces[letter] ?? 0
  }
  return found | count
}

/** What a name's signature may be, for the name to resemble this one. */
export interface NearSignatures {
  readonly signs: number
  readonly lacking: number
  readonly beyond: number
  readonly fewest: number
  readonly most: number
}

/** @param changes how many there may be, what looks the same and hyphens not counted */
export function nearSignatures(octets: Uint8Array, changes: number): NearSignatures {
  const signature = signatureOf(octets, 0, octets.length)
  const count = signature >>> COUNT_SHIFT
  return {
    signs: signature & SIGNS,
    lacking: lostBy(octets, changes),
    beyond: changes * MOST_SIGNS,
    fewest: count - changes * MOST_LETTERS,
    most: count + changes * MOST_LETTERS,
  }
}

export function isNear(near: NearSignatures, signature: number): boolean {
  const count = signature >>> COUNT_SHIFT
  if (count < near.fewest || count > near.most) return false
  const other = signature & SIGNS
  return bits(near.signs & ~other) <= near.lacking && bits(other & ~near.signs) <= near.beyond
}

/** Whether it has all the letters of the name. */
export function hasAll(near: NearSignatures, signature: number): boolean {
  return (near.signs & ~signature) === 0
}

function bits(word: number): number {
  let left = word - ((word >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** How many signs so many changes may take from a name: one concerns a letter, or two that look nearly like one. */
function lostBy(octets: Uint8Array, changes: number): number {
  const losses = [...octets].map((letter, i) =>
    pairOf(octets[i - 1] ?? 0, letter) === undefined ? bits(signs[letter] ?? 0) : MOST_SIGNS,
  )
  return losses
    .toSorted((a, b) => b - a)
    .slice(0, changes)
    .reduce((sum, loss) => sum + loss, 0)
}
