import { FairSlots } from './fair-slots.ts'

/** Runs one task at a time, in order. */
export class Mutex {
  readonly #slots: FairSlots

  /**
   * @param maxWaiting tasks that may wait; more are rejected with OverloadError
   * @param timeoutMs longest wait of a task
   */
  constructor(maxWaiting: number, timeoutMs: number) {
    this.#slots = new FairSlots({
      slots: 1,
      slotsPerClient: 1,
      maxWaiting,
      maxWaitingPerClient: maxWaiting,
      timeoutMs,
    })
  }

  run<T>(task: () => Promise<T>): Promise<T> {
    return this.#slots.run('', task)
  }
}
