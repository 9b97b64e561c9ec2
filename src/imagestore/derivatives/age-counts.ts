/** Ages within a class, whose files are evicted in any order, differ by 0.3 % at most. */
const CLASSES_PER_DOUBLING = 256
/** The last one begins after 68 years. */
const CLASSES = 31 * CLASSES_PER_DOUBLING

const classOf = (ageMs: number): number =>
  Math.min(CLASSES - 1, Math.floor(Math.log2(1 + ageMs / 1_000) * CLASSES_PER_DOUBLING))

/** Bytes of files by their age. */
export class AgeCounts {
  readonly #bytes = new Float64Array(CLASSES)
  total = 0

  add(ageMs: number, bytes: number): void {
    const age = classOf(ageMs)
    this.#bytes[age] = (this.#bytes[age] ?? 0) + bytes
    this.total += bytes
  }

  /**
   * Chooses the oldest files, and subtracts them from the total as they are evicted.
   * @param excess bytes to evict
   * @returns whether to evict a file, to be called once for each
   */
  evict(excess: number): (ageMs: number, bytes: number) => boolean {
    let cut = CLASSES - 1
    let rest = excess
    while (cut > 0 && (this.#bytes[cut] ?? 0) < rest) rest -= this.#bytes[cut--] ?? 0
    return (ageMs, bytes) => {
      const age = classOf(ageMs)
      // Of the youngest class that is affected, only as much as necessary.
      if (age < cut || (age === cut && rest <= 0)) return false
      if (age === cut) rest -= bytes
      this.total -= bytes
      return true
    }
  }
}
