import { ORDERS, partOf, type Order, type Segment, type SegmentSet } from '../../lib/name-index/index.ts'
import type { Mutex } from '../../lib/fair-slots.ts'
import type { IndexBuilder } from './index-builder.ts'

export interface SegmentMergerOptions {
  readonly sets: Readonly<Record<Order, SegmentSet>>
  readonly builder: IndexBuilder
  /** Held while segments are replaced. */
  readonly updates: Mutex
  /** Called after each merge. @param records live records of the merged segment */
  readonly onMerged: (records: number) => void
  readonly onError: (error: unknown) => void
  /** Called when nothing is left to merge, or merging has failed. */
  readonly onIdle: () => void
  readonly signal: AbortSignal
}

/** Merges the segments of both orders in another thread. Lists use the old ones until then. */
export class SegmentMerger {
  readonly #options: SegmentMergerOptions
  #isRunning = false

  constructor(options: SegmentMergerOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Merges until there is nothing to merge; returns immediately if it is doing so already. Never rejects. */
  async run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const { sets, signal, onError, onIdle } = this.#options
    try {
      for (const order of ORDERS) {
        for (;;) {
          const old = sets[order].toMerge()
          if (old.length === 0 || signal.aborted) break
          await this.#mergeOnce(order, old)
        }
      }
    } catch (error) {
      onError(error)
    } finally {
      this.#isRunning = false
      onIdle()
    }
  }

  async #mergeOnce(order: Order, old: readonly Segment[]): Promise<void> {
    const { sets, builder, updates, onMerged } = this.#options
    const parts = old.map(partOf)
    const columns = await builder.merged(parts, order)
    await updates.run(async () => {
      const merged = await sets[order].replace(old, parts, columns)
      if (merged !== undefined) onMerged(merged.liveCount)
    })
  }
}
