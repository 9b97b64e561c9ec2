/** How long a transaction should take: so long others who write to SQLite wait for it. */
const HOLD_MS = 1_000
const FIRST_ROWS = 10_000
/** As many as `add` takes. */
const MAX_ROWS = 50_000
/** Fewer are stored in another way, row by row, which is slower still. */
const MIN_ROWS = 1_000

/** How many rows to store in one transaction, by how long the one before took. */
export class Pace {
  #rows = FIRST_ROWS

  get rows(): number {
    return this.#rows
  }

  /** @param ms from the moment on at which it held others up, its commit included */
  took(rows: number, ms: number): void {
    // The last ones of a stretch say little: part of what a transaction takes does not depend on its rows.
    if (rows < this.#rows) return
    const fitting = Math.round((rows * HOLD_MS) / Math.max(1, ms))
    this.#rows = Math.max(MIN_ROWS, Math.min(MAX_ROWS, 2 * rows, fitting))
  }
}
