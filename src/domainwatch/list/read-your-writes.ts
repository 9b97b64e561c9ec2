import type { Transaction } from '../../storage/database/database.ts'

/** A write waits for the index only if lists were read this recently. */
const RECENT_MS = 5_000

/** The ids of the changes of one transaction of this process: after the first, up to the last. */
export class WriteRange {
  first = Infinity
  last = -Infinity

  /** Must be called in the transaction, before and after its writes. */
  async begin(tx: Transaction): Promise<void> {
    this.first = (await tx.newestChange()) ?? Infinity
    this.last = -Infinity
  }

  async end(tx: Transaction): Promise<void> {
    this.last = (await tx.newestChange()) ?? -Infinity
  }
}

/**
 * Tracks writes of this process that are not acknowledged yet. Lists may omit these, so readers do not wait while a
 * large batch is put into the index; the writer waits instead. Without readers no writer waits, and the next reader
 * waits for what is missing.
 */
export class ReadYourWrites {
  readonly #ranges = new Set<WriteRange>()
  #readAt = -Infinity
  #deferred: Promise<unknown> | undefined

  /** Must be called whenever a list is read. */
  noteRead(): void {
    this.#readAt = performance.now()
  }

  /**
   * @param write the transaction, which marks its range
   * @param updateIndex resolves when lists show what was written, or are known to be behind; never rejects
   */
  async run<T>(write: (range: WriteRange) => Promise<T>, updateIndex: () => Promise<unknown>): Promise<T> {
    const range = new WriteRange()
    this.#ranges.add(range)
    try {
      const result = await write(range)
      // One at a time: many writes without waiting would leave the index further and further behind.
      await this.#deferred
      const updated = updateIndex()
      if (performance.now() - this.#readAt < RECENT_MS) await updated
      else this.#deferred = updated
      return result
    } finally {
      this.#ranges.delete(range)
    }
  }

  /** Whether all changes after one id up to another are of writes that are not acknowledged. */
  cover(first: number, last: number): boolean {
    let covered = first
    for (;;) {
      const next = [...this.#ranges].find((range) => range.first <= covered && range.last > covered)
      if (next === undefined) return this.#ranges.size > 0 && covered > first && covered >= last
      covered = next.last
    }
  }
}
