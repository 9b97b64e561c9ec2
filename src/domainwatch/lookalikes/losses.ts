import { drawn, NO_SIGN, pairOf } from './letters.ts'
import { bitsOfRun } from './signature.ts'

/**
 * How much of a name's signature a few changes may take away: the most, over all places where they may happen. An edit is of
 * one letter, or of two that nearly look like one; a swap is of two neighbours. All of names without hyphens.
 */

/** Signs from one up to before another, by their places among those of the name. */
type Span = readonly [from: number, to: number]

function edits(letters: Uint8Array): Span[] {
  const ends = endsOf(letters)
  return [...letters].flatMap((letter, i): Span[] => {
    const own: Span = [ends[i] ?? 0, ends[i + 1] ?? 0]
    const isPair = i > 0 && pairOf(letters[i - 1] ?? 0, letter) !== undefined
    return isPair ? [own, [ends[i - 1] ?? 0, own[1]]] : [own]
  })
}

function swaps(letters: Uint8Array): Span[] {
  const ends = endsOf(letters)
  return [...letters.subarray(1)].map((_, i): Span => [ends[i] ?? 0, ends[i + 2] ?? 0])
}

function endsOf(letters: Uint8Array): number[] {
  const ends = [0]
  for (const letter of letters) ends.push((ends.at(-1) ?? 0) + (drawn[letter]?.length ?? 0))
  return ends
}

/** The most different signs that so many edits, at most 2, may leave none of. */
export function lostBy(letters: Uint8Array, changes: number): number {
  if (changes === 0) return 0
  const signs = [...letters].flatMap((letter) => drawn[letter] ?? [])
  const counts = new Uint8Array(NO_SIGN + 1)
  for (const sign of signs) counts[sign] = (counts[sign] ?? 0) + 1
  const left = new Uint8Array(NO_SIGN + 1)
  return mostOf(edits(letters), changes === 1 ? [[0, 0]] : edits(letters), (one, other) => {
    left.set(counts)
    let lost = 0
    for (let at = one[0]; at < one[1]; at++) lost += take(signs[at])
    for (let at = Math.max(other[0], 0); at < other[1]; at++) {
      if (at < one[0] || at >= one[1]) lost += take(signs[at])
    }
    return lost
  })

  function take(sign = NO_SIGN): number {
    left[sign] = (left[sign] ?? 0) - 1
    return left[sign] === 0 ? 1 : 0
  }
}

/** The most pairs of neighbouring signs that so many edits and swaps, at most 2 together, may break. */
export function brokenBy(letters: Uint8Array, edited: number, swapped: number): number {
  const count = (endsOf(letters).at(-1) ?? 0) - 1
  // The pairs that a span is part of.
  const pairsOf = ([from, to]: Span): Span => [Math.max(0, from - 1), Math.min(count, to)]
  const kinds = [...Array(edited).fill(edits), ...Array(swapped).fill(swaps)]
  const [some = [], others = [[0, 0]]] = kinds.map((spans) => spans(letters).map(pairsOf))
  return mostOf(some, others, (one, other) => {
    const common = Math.min(one[1], other[1]) - Math.max(one[0], other[0])
    return one[1] - one[0] + other[1] - other[0] - Math.max(0, common)
  })
}

function mostOf(
  some: readonly Span[],
  others: readonly Span[],
  of: (one: Span, other: Span) => number,
): number {
  let most = 0
  for (const one of some) for (const other of others) most = Math.max(most, of(one, other))
  return most
}

/** Pairs of neighbouring signs as they are in two words of a signature. */
export type PairMask = readonly [second: number, third: number]

/**
 * The pairs that a name has in every case that holds these letters with one change: for each place where an edit may be, those
 * beside it, and for each swap, those of the swapped letters too. A name that has none of these sets of pairs holds no such text.
 */
export function pairsLeft(letters: Uint8Array): readonly PairMask[] {
  const signs = [...letters].flatMap((letter) => drawn[letter] ?? [])
  const ends = endsOf(letters)
  const edited = edits(letters).map(([from, to]) => maskOf([signs.slice(0, from), signs.slice(to)]))
  const swapped = swaps(letters).map(([from, to], i) => {
    const middle = ends[i + 1] ?? 0
    const two = [...signs.slice(middle, to), ...signs.slice(from, middle)]
    return maskOf([[...signs.slice(0, from), ...two, ...signs.slice(to)]])
  })
  return [...edited, ...swapped]
}

function maskOf(runs: readonly (readonly number[])[]): PairMask {
  const mask: [number, number] = [0, 0]
  for (const run of runs) {
    const [second, third] = bitsOfRun(run)
    mask[0] |= second
    mask[1] |= third
  }
  return mask
}
