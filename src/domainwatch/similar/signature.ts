import { HYPHEN, LEAST_CHANGE, pairOf, PAIRS, signs } from './letters.ts'

/**
 * A few bits of a name that settle for most names that they do not resemble another: which letters it has, those that
 * look the same being one; how many, a letter that looks like two being two; and whether there are such. Neither hyphens
 * nor what looks the same leave a trace in it.
 */

/** 21 signs, then 2 bits for the letters that count for two, then the number of letters. */
const DOUBLES_SHIFT = 22
const COUNT_SHIFT = 24
const SIGNS = (1 << DOUBLES_SHIFT) - 1
const MOST_DOUBLES = 3

const ONE = 1 << COUNT_SHIFT
/** By letter: how many it counts for, and whether that is two, which goes above the bits of a signature. */
const counts = new Uint32Array(256).fill(ONE)
counts[HYPHEN] = 0
const doubles = new Uint8Array(256)
for (const { one, cost } of PAIRS) {
  if (cost >= LEAST_CHANGE) continue
  counts[one.charCodeAt(0)] = 2 * ONE
  doubles[one.charCodeAt(0)] = 1
}
const L = 'l'.charCodeAt(0)
const C = 'c'.charCodeAt(0)

export function signatureOf(octets: Uint8Array, start: number, end: number): number {
  let found = 0
  let count = 0
  let double = 0
  let before = 0
  for (let at = start; at < end; at++) {
    const letter = octets[at] ?? 0
    found |= signs[letter] ?? 0
    count += counts[letter] ?? 0
    double += doubles[letter] ?? 0
    // Nearly looks like a single letter that has neither's sign: the only such two.
    if (letter === C && before === L) double++
    before = letter
  }
  return found | (Math.min(double, MOST_DOUBLES) << DOUBLES_SHIFT) | count
}

/** What a name's signature may be, for the name to resemble this one. */
export interface NearSignatures {
  readonly signs: number
  readonly lacking: number
  /** The fewest letters. */
  readonly fewest: number
  readonly count: number
  readonly changes: number
}

/** @param changes how many there may be, at most 2, what looks the same and hyphens not counted */
export function nearSignatures(octets: Uint8Array, changes: number): NearSignatures {
  const signature = signatureOf(octets, 0, octets.length)
  const count = signature >>> COUNT_SHIFT
  return {
    signs: signature & SIGNS,
    lacking: lostBy(octets, changes),
    fewest: count - beyond(signature, changes),
    count,
    changes,
  }
}

/** Signs or letters that so many changes may add to another name so that this one comes out. */
function beyond(signature: number, changes: number): number {
  return changes + Math.min(changes, (signature >>> DOUBLES_SHIFT) & MOST_DOUBLES)
}

export function isNear(near: NearSignatures, signature: number): boolean {
  const count = signature >>> COUNT_SHIFT
  if (count < near.fewest) return false
  const most = beyond(signature, near.changes)
  if (count > near.count + most) return false
  return bits(near.signs & ~signature) <= near.lacking && bits(signature & SIGNS & ~near.signs) <= most
}

/** Whether it has all the letters of the name. */
export function hasAll(near: NearSignatures, signature: number): boolean {
  return (near.signs & ~signature) === 0 && signature >>> COUNT_SHIFT >= near.count
}

function bits(word: number): number {
  let left = word - ((word >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** The most signs that so many changes may take from a name: each a letter, or two that nearly look like one. */
function lostBy(octets: Uint8Array, changes: number): number {
  const all = tally(octets, [...octets.keys()])
  const lost = (places: readonly number[]) => {
    const taken = tally(octets, [...new Set(places)])
    return taken.reduce((sum, count, bit) => (count > 0 && count === all[bit] ? sum + 1 : sum), 0)
  }
  const spans = [...octets].flatMap((letter, i) =>
    pairOf(octets[i - 1] ?? 0, letter) === undefined ? [[i]] : [[i], [i - 1, i]],
  )
  let most = 0
  for (const [i, span] of spans.entries()) {
    const others = changes < 2 ? [span] : spans.slice(i)
    for (const other of others) most = Math.max(most, lost([...span, ...other]))
  }
  return most
}

/** How many letters at these places leave each sign. */
function tally(octets: Uint8Array, places: readonly number[]): number[] {
  const counts = Array.from({ length: DOUBLES_SHIFT }, () => 0)
  for (const place of places) {
    for (let left = signs[octets[place] ?? 0] ?? 0, bit = 0; left !== 0; left >>>= 1, bit++) {
      counts[bit] = (counts[bit] ?? 0) + (left & 1)
    }
  }
  return counts
}
