import type { Matches } from './matches.ts'
import { firstPart, masksOf, PART_BITS, radii, secondPart, thirdPart } from './parts.ts'

/** Past this distance so many values of a part are near that going through all hashes is sooner done. */
const MAX_DISTANCE = 11
/** A hash that is met by its part costs as much as so many in a row. */
const CANDIDATE_COST = 12

/**
 * Hashes, each once, in their order, and by each of their parts. All of it is shared memory, so that the next one can be
 * built from it in another thread.
 */
export interface SortedParts {
  /** Two halves each, the lower one first. */
  readonly hashes: Uint32Array
  /** Where the hashes begin whose first part has a value: the order of the hashes is that of their first parts. */
  readonly firstStarts: Uint32Array
  /** The places of hashes by their second and third part, and where those of a value begin. */
  readonly second: Uint32Array
  readonly secondStarts: Uint32Array
  readonly third: Uint32Array
  readonly thirdStarts: Uint32Array
}

/** Finds near hashes without looking at most of them. */
export class SortedHashes {
  readonly #parts: SortedParts

  constructor(parts: SortedParts) {
    this.#parts = parts
  }

  get hashes(): Uint32Array {
    return this.#parts.hashes
  }

  get count(): number {
    return this.hashes.length / 2
  }

  get bytes(): number {
    return Object.values(this.#parts).reduce((sum: number, array: Uint32Array) => sum + array.byteLength, 0)
  }

  has(high: number, low: number): boolean {
    const { hashes, firstStarts } = this.#parts
    const part = firstPart(high)
    let from = firstStarts[part] ?? 0
    let to = firstStarts[part + 1] ?? 0
    while (from < to) {
      const middle = (from + to) >>> 1
      const order = (hashes[middle * 2 + 1] ?? 0) - high || (hashes[middle * 2] ?? 0) - low
      if (order === 0) return true
      if (order < 0) from = middle + 1
      else to = middle
    }
    return false
  }

  /** Offers all that is near. @returns false when nothing was offered, as going through all of them is sooner done */
  find(matches: Matches): boolean {
    const { query, distance } = matches
    if (distance > MAX_DISTANCE) return false
    const { hashes, firstStarts, second, secondStarts, third, thirdStarts } = this.#parts
    const lookups = [
      { starts: firstStarts, places: undefined, value: firstPart(query.high) },
      { starts: secondStarts, places: second, value: secondPart(query.high, query.low) },
      { starts: thirdStarts, places: third, value: thirdPart(query.low) },
    ].map((lookup, part) => ({
      ...lookup,
      near: masksOf(PART_BITS[part] ?? 0, radii(distance)[part] ?? -1),
    }))
    const candidates = lookups.reduce((sum, { starts, value, near }) => sum + met(starts, value, near), 0)
    if (candidates * CANDIDATE_COST > this.count) return false
    for (const { starts, places, value, near } of lookups) {
      for (const mask of near) {
        const end = starts[(value ^ mask) + 1] ?? 0
        for (let i = starts[value ^ mask] ?? 0; i < end; i++) {
          const at = (places === undefined ? i : (places[i] ?? 0)) * 2
          matches.offer(hashes[at + 1] ?? 0, hashes[at] ?? 0)
        }
      }
    }
    return true
  }
}

/** Hashes whose part has one of the near values. */
function met(starts: Uint32Array, value: number, near: Uint32Array): number {
  let count = 0
  for (const mask of near) count += (starts[(value ^ mask) + 1] ?? 0) - (starts[value ^ mask] ?? 0)
  return count
}
