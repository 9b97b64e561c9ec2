import { Slots } from '../../core/queue.ts'

/** Deliveries under way at a time to receivers that answer, and to those that were slow or failed last. */
const QUICK = 48
const SLOW = 16
/** Who takes longer goes among the slow next time. */
const SLOW_MS = 2_000
/** All watches may wait; a turn comes after so many time-outs at the latest. */
const MAX_WAITING = 1_000_000
const WAIT_MS = 60 * 60 * 1000

/** Bounds how many deliveries are under way, so that receivers that are slow or dead do not hold the others up. */
export class Lanes {
  readonly #quick = new Slots(QUICK, MAX_WAITING, WAIT_MS)
  readonly #slow = new Slots(SLOW, MAX_WAITING, WAIT_MS)
  /** Watches whose last delivery took long. */
  readonly #lagging = new Set<string>()

  /** @param hasFailed at the last attempt */
  run<T>(watch: string, hasFailed: boolean, deliver: () => Promise<T>): Promise<T> {
    const lane = hasFailed || this.#lagging.has(watch) ? this.#slow : this.#quick
    return lane.run(async () => {
      const begin = performance.now()
      try {
        return await deliver()
      } finally {
        if (performance.now() - begin > SLOW_MS) this.#lagging.add(watch)
        else this.#lagging.delete(watch)
      }
    })
  }

  forget(watch: string): void {
    this.#lagging.delete(watch)
  }
}
