import { setBits } from './columns.ts'
import { HYPHEN } from './planes.ts'
import type { Segment } from './segment.ts'

/** Sets a bit where each word ends of the name that begins at `start`. */
export function markWordEnds(
  wordEnds: Uint32Array,
  names: Uint8Array,
  start: number,
  words: readonly string[],
): void {
  let at = start
  for (const word of words) {
    while (names[at] === HYPHEN) at++
    at += word.length
    setBits(wordEnds, (at - 1) >>> 5, 1 << ((at - 1) & 31))
  }
}

/** The words that the name at a position consists of; none if it does not. */
export function toWords(segment: Segment, position: number): readonly string[] {
  const { names, starts, wordEnds } = segment.columns
  const words: string[] = []
  const end = starts[position + 1] ?? 0
  let from = starts[position] ?? 0
  for (let at = from; at < end; at++) {
    if (names[at] === HYPHEN) from = at + 1
    else if ((((wordEnds[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1) {
      words.push(segment.textOf(from, at + 1))
      from = at + 1
    }
  }
  return words
}
