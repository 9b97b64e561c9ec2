import { MultiIndex, TABLE_BYTES, type MultiIndexArrays } from './multi-index.ts'
import { Matches, scan, type Hash64 } from './scan.ts'

/** Hashes outside the multi-index that a search may scan: a third of a millisecond. */
const MAX_UNINDEXED = 131_072
/** Large indexes are rebuilt only when hashes outside exceed this share of them. */
const MAX_UNINDEXED_SHARE = 1 / 16
const INITIAL_CAPACITY = 256

/** Estimates the memory of an index of `count` hashes, with room to grow. In bytes. */
export function estimateBytes(count: number): number {
  const grown = count * 1.25
  return 4_096 + grown * 8 + (grown > MAX_UNINDEXED ? grown * 8 + TABLE_BYTES : 0)
}

/** Calls `buildMultiIndex`, in another thread if there are many hashes. */
export type BuildMultiIndex = (halves: readonly Uint32Array[]) => Promise<MultiIndexArrays>

/** A growing set of hashes that can be searched by distance: a multi-index, and recent hashes that searches scan. */
export class HashIndex {
  readonly #build: BuildMultiIndex
  #indexed: MultiIndex | undefined
  #recent = new Uint32Array(INITIAL_CAPACITY)
  #recentCount = 0
  #rebuilding: Promise<void> | undefined

  constructor(build: BuildMultiIndex) {
    this.#build = build
  }

  get bytes(): number {
    return (this.#indexed?.bytes ?? 0) + this.#recent.byteLength
  }

  add({ high, low }: Hash64): void {
    if (this.#indexed?.has(high, low) === true) return
    if (this.#recentCount * 2 === this.#recent.length) {
      const larger = new Uint32Array(this.#recent.length * 2)
      larger.set(this.#recent)
      this.#recent = larger
    }
    this.#recent[this.#recentCount * 2] = low
    this.#recent[this.#recentCount * 2 + 1] = high
    this.#recentCount++
  }

  /** Rebuilds the multi-index if that is due. Searches and additions in the meantime are not affected. */
  rebuildIfDue(): Promise<void> {
    const max = Math.max(MAX_UNINDEXED, (this.#indexed?.count ?? 0) * MAX_UNINDEXED_SHARE)
    if (this.#recentCount <= max) return Promise.resolve()
    this.#rebuilding ??= this.#rebuild().finally(() => (this.#rebuilding = undefined))
    return this.#rebuilding
  }

  async #rebuild(): Promise<void> {
    const count = this.#recentCount
    const recent = this.#recent.slice(0, count * 2)
    const indexed = this.#indexed
    this.#indexed = new MultiIndex(
      await this.#build(indexed === undefined ? [recent] : [indexed.halves, recent]),
    )
    // Keeps the hashes that were added in the meantime.
    this.#recent = this.#recent.slice(count * 2, Math.max(INITIAL_CAPACITY, this.#recentCount * 2))
    this.#recentCount -= count
  }

  /** Finds all hashes that differ from `query` in at most `distance` bits. */
  async find(query: Hash64, distance: number): Promise<Matches> {
    const matches = new Matches(query, distance)
    const [indexed, recent, count] = [this.#indexed, this.#recent, this.#recentCount]
    if (indexed?.find(matches) === false) await scan(indexed.halves, indexed.count, matches)
    await scan(recent, count, matches)
    return matches
  }
}
