import { Matches, scan, type Hash64 } from './scan.ts'

const INITIAL_CAPACITY = 256
/** Copies less memory than doubling leaves unused. */
const GROWTH = 1.25
const HASH_BYTES = 8

/** Estimates the memory of a list of `count` hashes, with room to grow. In bytes. */
export const estimateBytes = (count: number): number =>
  Math.max(INITIAL_CAPACITY, count * GROWTH) * HASH_BYTES

/** A growing list of hashes that can be searched by distance. */
export class HashList {
  #halves = new Uint32Array(INITIAL_CAPACITY * 2)
  #count = 0

  get count(): number {
    return this.#count
  }

  get bytes(): number {
    return this.#halves.byteLength
  }

  add({ high, low }: Hash64): void {
    if (this.#count * 2 === this.#halves.length) {
      // Copied, because a search may be reading it.
      const larger = new Uint32Array(Math.ceil(this.#count * GROWTH) * 2)
      larger.set(this.#halves)
      this.#halves = larger
    }
    this.#halves[this.#count * 2] = low
    this.#halves[this.#count * 2 + 1] = high
    this.#count++
  }

  /** Finds all hashes that differ from `query` in at most `distance` bits. */
  async find(query: Hash64, distance: number): Promise<Matches> {
    const matches = new Matches(query, distance)
    await scan(this.#halves, this.#count, matches)
    return matches
  }
}
