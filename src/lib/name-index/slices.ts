import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long work blocks the event loop. */
const SLICE_MS = 3

/** Divides long work on the event loop into slices, so that other work gets a turn. */
export class TimeSlice {
  #end = performance.now() + SLICE_MS

  get isOver(): boolean {
    return performance.now() >= this.#end
  }

  /** Returns to the event loop if the slice is over. */
  async yieldIfOver(): Promise<void> {
    if (this.isOver) await this.next()
  }

  /** Returns to the event loop, and begins the next slice. */
  async next(): Promise<void> {
    await nextTurn()
    this.#end = performance.now() + SLICE_MS
  }
}

/** Work that pauses whenever its slice of time is over. */
export type SlicedWork<T> = Generator<void, T>

/**
 * Runs work to its end, with other work on the event loop between its slices.
 * @param signal ends it
 */
export async function finish<T>(work: SlicedWork<T>, slice: TimeSlice, signal?: AbortSignal): Promise<T> {
  for (;;) {
    signal?.throwIfAborted()
    const step = work.next()
    if (step.done === true) return step.value
    await slice.next()
  }
}

/** Runs work to its end without a pause, where nothing else waits. */
export function finishNow<T>(work: SlicedWork<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
