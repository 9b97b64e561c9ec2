import { drawn, HYPHEN } from './letters.ts'
import { backwards, forwards } from './lures.ts'

/**
 * One word of a name that tells where a short one may stand inside it: with nothing, a hyphen or a lure on either side, as
 * `Bounds` says, but known beforehand. The lower half says by which signs the letters begin behind such a place, the upper
 * half by which they end before one. What looks the same begins and ends by the same signs.
 */
const HALF = 16

/** Of all signs, a rare one and a common one to a bit. */
const bitOfSign = (sign: number | undefined) => 1 << ((sign ?? 0) & (HALF - 1))

/** By letter: the bit of its first sign, and of its last. */
const firsts = Uint32Array.from(drawn, (signs) => bitOfSign(signs[0]))
const lasts = Uint32Array.from(drawn, (signs) => bitOfSign(signs.at(-1)))

const wordOf = (begins: number, ends: number) => begins | (ends << HALF)

/** What the word of every name has that holds this one, with nothing run on to it but lures. */
export function edgesWanted(octets: Uint8Array): number {
  return wordOf(firsts[octets[0] ?? 0] ?? 0, lasts[octets.at(-1) ?? 0] ?? 0)
}

/** The word of the name at `start` to `end`. */
export function edgesOf(octets: Uint8Array, start: number, end: number): number {
  let begins = 0
  let isEdge = true
  let node = 0
  for (let at = start; at < end; at++) {
    const letter = octets[at] ?? 0
    if (isEdge) begins |= firsts[letter] ?? 0
    node = forwards.step(node, letter)
    isEdge = letter === HYPHEN || forwards.isEnd(node)
  }
  let ends = 0
  isEdge = true
  node = 0
  for (let at = end - 1; at >= start; at--) {
    const letter = octets[at] ?? 0
    if (isEdge) ends |= lasts[letter] ?? 0
    node = backwards.step(node, letter)
    isEdge = letter === HYPHEN || backwards.isEnd(node)
  }
  return wordOf(begins, ends)
}
