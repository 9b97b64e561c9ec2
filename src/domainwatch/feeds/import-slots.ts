import { FairSlots } from '../../lib/fair-slots.ts'

/** Bytes after decompression from which a list is large: its import takes seconds or minutes. */
const LARGE_BYTES = 4 * 1024 * 1024
/** Each feed waits with at most one list, so a queue is no longer than the number of feeds. */
const QUEUE = { slotsPerClient: 1, maxWaiting: 1_000, maxWaitingPerClient: 1, timeoutMs: 24 * 60 * 60_000 }

/**
 * Limits how many lists are checked and imported at the same time, because they share the processor and the writer with
 * requests. Small lists are imported one after the other, and never wait for a large one.
 */
export class ImportSlots {
  readonly #checks = new FairSlots({ ...QUEUE, slots: 2 })
  readonly #small = new FairSlots({ ...QUEUE, slots: 1 })
  readonly #large = new FairSlots({ ...QUEUE, slots: 1 })

  check<T>(feed: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return this.#checks.run(feed, task, signal)
  }

  /** @param bytes of the list after decompression */
  import<T>(feed: string, bytes: number, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return (bytes > LARGE_BYTES ? this.#large : this.#small).run(feed, task, signal)
  }
}
