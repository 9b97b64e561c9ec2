import { pairKey, pairOnes } from './alignment.ts'
import { HYPHEN, MOST_THAT_IS_ALIKE, PAIRS, replacementCosts } from './letters.ts'
import { backwards, forwards } from './lures.ts'

/**
 * Tells of most names that a short one does not stand inside them as `Containment` wants it: on either side there is
 * nothing, a hyphen, or a lure. Nearly all names have the letters of a name of one or two, so nothing else tells them apart.
 * What it lets through may hold the name or not; what it holds back does not.
 */
export class Bounds {
  /** Whether a letter may be the first, or the last, of what ours is written with. */
  readonly #begins = new Uint8Array(256)
  readonly #ends = new Uint8Array(256)
  /** Most letters that ours is written with: two for each. */
  readonly #most: number
  readonly #places = new Uint8Array(64)

  constructor(octets: Uint8Array) {
    const [first = 0, second = 0] = octets
    const [last = 0, beforeLast = 0] = octets.toReversed()
    for (let letter = 0; letter < 256; letter++) {
      const isAlike = (own: number) => (replacementCosts[pairKey(own, letter)] ?? 0) <= MOST_THAT_IS_ALIKE
      if (isAlike(first) || pairOnes[pairKey(first, second)] === letter) this.#begins[letter] = 1
      if (isAlike(last) || pairOnes[pairKey(beforeLast, last)] === letter) this.#ends[letter] = 1
    }
    for (const { two, one } of PAIRS) {
      if (one.charCodeAt(0) === first) this.#begins[two.charCodeAt(0)] = 1
      if (one.charCodeAt(0) === last) this.#ends[two.charCodeAt(1)] = 1
    }
    this.#most = 2 * octets.length
  }

  mayBeInside(octets: Uint8Array, start: number, end: number): boolean {
    const begins = this.#begins
    const places = this.#places
    let count = 0
    let hyphens = 0
    let isBound = true
    let at = start
    // As far as lures go, which is two or three letters as a rule.
    for (let node = 0; at < end && node >= 0; at++) {
      const letter = octets[at] ?? 0
      if (isBound && begins[letter] === 1) places[count++] = at - start
      if (letter === HYPHEN) hyphens++
      node = forwards.step(node, letter)
      isBound = letter === HYPHEN || forwards.isEnd(node)
    }
    for (; at < end; at++) {
      const letter = octets[at] ?? 0
      if (isBound && begins[letter] === 1) places[count++] = at - start
      isBound = letter === HYPHEN
      if (isBound) hyphens++
    }
    if (count === 0) return false
    const most = this.#most + hyphens
    isBound = true
    let node = 0
    for (at = end - 1; at >= start; at--) {
      const letter = octets[at] ?? 0
      if (isBound && this.#ends[letter] === 1) {
        for (let i = 0; i < count; i++) {
          const length = at + 1 - start - (places[i] ?? 0)
          if (length >= 1 && length <= most) return true
        }
      }
      node = backwards.step(node, letter)
      isBound = letter === HYPHEN || backwards.isEnd(node)
    }
    return false
  }
}
