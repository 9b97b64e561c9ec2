import { setImmediate as nextTurn } from 'node:timers/promises'

/** Divides long work on the event loop into slices, so that other work gets a turn. */
export class TimeSlice {
  readonly #ms: number
  #since = performance.now()

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Returns to the event loop if the slice is over. */
  async yieldIfOver(): Promise<void> {
    if (performance.now() - this.#since < this.#ms) return
    await nextTurn()
    this.#since = performance.now()
  }
}
