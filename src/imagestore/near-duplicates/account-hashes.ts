import { Matches } from './matches.ts'
import type { Dhash } from './dhash.ts'
import { scan } from './scan.ts'
import { SortedHashes, type SortedParts } from './sorted.ts'

/** So many are gone through in a third of a millisecond, and not worth sorting. */
const UNSORTED = 131_072
/** To those that are sorted, so small a part of them may be added before all are sorted anew. */
const UNSORTED_SHARE = 1 / 16
/** What the starts of the parts take, however few hashes there are. */
const STARTS_BYTES = (2 ** 22 + 2 * 2 ** 21 + 3) * 4

/** Bytes of memory that so many hashes will take, with room for some more. */
export function bytesFor(count: number): number {
  const grown = count * 1.25
  return 4_096 + grown * 8 + (grown > UNSORTED ? grown * 8 + STARTS_BYTES : 0)
}

/** Sorts hashes, in another thread. */
export type Sort = (hashes: readonly Uint32Array[]) => Promise<SortedParts>

/** The hashes of one application's images. What is removed stays: who shows an image reads its record first. */
export class AccountHashes {
  readonly #sort: Sort
  #sorted: SortedHashes | undefined
  #others = new Uint32Array(256)
  #otherCount = 0
  #sorting: Promise<void> | undefined

  constructor(sort: Sort) {
    this.#sort = sort
  }

  get bytes(): number {
    return (this.#sorted?.bytes ?? 0) + this.#others.byteLength
  }

  add({ high, low }: Dhash): void {
    if (this.#sorted?.has(high, low) === true) return
    if (this.#otherCount * 2 === this.#others.length) {
      const larger = new Uint32Array(this.#others.length * 2)
      larger.set(this.#others)
      this.#others = larger
    }
    this.#others[this.#otherCount * 2] = low
    this.#others[this.#otherCount * 2 + 1] = high
    this.#otherCount++
  }

  /** Sorts what was added, where it is worth it. Whoever searches meanwhile finds all the same. */
  settle(): Promise<void> {
    const bound = Math.max(UNSORTED, (this.#sorted?.count ?? 0) * UNSORTED_SHARE)
    if (this.#otherCount <= bound) return Promise.resolve()
    this.#sorting ??= this.#sortAll().finally(() => (this.#sorting = undefined))
    return this.#sorting
  }

  async #sortAll(): Promise<void> {
    const count = this.#otherCount
    const added = this.#others.slice(0, count * 2)
    const sorted = this.#sorted
    const parts = await this.#sort(sorted === undefined ? [added] : [sorted.hashes, added])
    this.#sorted = new SortedHashes(parts)
    // Those that came meanwhile.
    this.#others = this.#others.slice(count * 2, Math.max(256, this.#otherCount * 2))
    this.#otherCount -= count
  }

  /** All hashes that differ in at most so many bits. */
  async find(query: Dhash, distance: number): Promise<Matches> {
    const matches = new Matches(query, distance)
    const [sorted, others, count] = [this.#sorted, this.#others, this.#otherCount]
    if (sorted?.find(matches) === false) await scan(sorted.hashes, sorted.count, matches)
    await scan(others, count, matches)
    return matches
  }
}
