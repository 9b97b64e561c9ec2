import type { Transaction } from '../../storage/database/database.ts'

/** Lists that nobody has asked for during so long are brought up to date behind the answer to who wrote, not before it. */
const QUIET_MS = 5_000

/** The changes of one transaction of this process, by id: behind the first, up to the last. */
export class OwnRange {
  first = Infinity
  last = -Infinity

  /** To be called in the transaction, before and after its writes. */
  async begin(tx: Transaction): Promise<void> {
    this.first = (await tx.newestChange()) ?? Infinity
    this.last = -Infinity
  }

  async end(tx: Transaction): Promise<void> {
    this.last = (await tx.newestChange()) ?? -Infinity
  }
}

/**
 * Writes of this process that nobody has been told of yet. Until then a list may leave them out, so readers need not wait
 * while a large batch is put into the lists; who wrote it waits instead. Where there are no readers nobody waits, and a list
 * that comes after all waits for what is not in it yet.
 */
export class OwnWrites {
  readonly #ranges = new Set<OwnRange>()
  #askedAt = -Infinity
  #deferred: Promise<unknown> | undefined

  /** Somebody wants a list. */
  asked(): void {
    this.#askedAt = performance.now()
  }

  /**
   * @param write the transaction, which marks its range
   * @param settle resolves when lists show what was written, or are known to be behind; it never rejects
   */
  async run<T>(write: (range: OwnRange) => Promise<T>, settle: () => Promise<unknown>): Promise<T> {
    const range = new OwnRange()
    this.#ranges.add(range)
    try {
      const result = await write(range)
      await this.#settle(settle)
      return result
    } finally {
      this.#ranges.delete(range)
    }
  }

  async #settle(settle: () => Promise<unknown>): Promise<void> {
    // One at a time: many that do not wait would leave the lists ever further behind.
    await this.#deferred
    const settled = settle()
    if (performance.now() - this.#askedAt < QUIET_MS) await settled
    else this.#deferred = settled
  }

  /** Whether all changes behind one id up to another are of this kind. */
  cover(first: number, last: number): boolean {
    let covered = first
    for (;;) {
      const next = [...this.#ranges].find((range) => range.first <= covered && range.last > covered)
      if (next === undefined) return this.#ranges.size > 0 && covered > first && covered >= last
      covered = next.last
    }
  }
}
