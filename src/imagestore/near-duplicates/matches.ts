import { formatDhash, popcount, type Dhash } from './dhash.ts'

/** Hashes that are near one, by their distance. One that is reported twice is kept twice. */
export class Matches {
  readonly query: Dhash
  readonly distance: number
  /** For each distance the halves of hashes, the higher one first. */
  readonly #found: number[][]

  constructor(query: Dhash, distance: number) {
    this.query = query
    this.distance = distance
    this.#found = Array.from({ length: distance + 1 }, () => [])
  }

  /** Takes a hash that is near enough; the others are passed over. */
  offer(high: number, low: number): void {
    const distance = popcount(high ^ this.query.high) + popcount(low ^ this.query.low)
    this.#found[distance]?.push(high, low)
  }

  /** Of each distance, nearest first, the hashes in their order, each once. */
  *byDistance(): Generator<{ readonly distance: number; readonly dhashes: readonly string[] }> {
    for (const [distance, halves] of this.#found.entries()) {
      const dhashes = new Set<string>()
      for (let i = 0; i < halves.length; i += 2) dhashes.add(formatDhash(halves[i] ?? 0, halves[i + 1] ?? 0))
      if (dhashes.size > 0) yield { distance, dhashes: [...dhashes].sort() }
    }
  }
}
