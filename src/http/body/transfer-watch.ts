/**
 * Chunks of a body per turn of the event loop that may have any size, and the mean size of more, in bytes: a tiny chunk costs as
 * much as a large one. A client that has little to send at a time stays far below.
 */
const MAX_TINY_CHUNKS = 16_384
const MIN_MEAN_CHUNK_BYTES = 16

/** Minimum transfer rate of a body. */
export interface MinTransferRate {
  /** Average in each window; 0 for no limit. */
  readonly bytesPerSecond: number
  readonly windowMs: number
}

/** Watches the transfer of a body: its rate, and the size of its chunks in each turn of the event loop. */
export class TransferWatch {
  readonly #timer: NodeJS.Timeout | undefined
  #bytesInWindow = 0
  #chunksInTurn = 0
  #bytesInTurn = 0

  /** @param onTooSlow called if the rate is below its minimum in any window; the timer does not keep the process alive */
  constructor({ bytesPerSecond, windowMs }: MinTransferRate, onTooSlow: () => void) {
    if (bytesPerSecond === 0) return
    const timer = setTimeout(() => {
      if (this.#bytesInWindow < (bytesPerSecond * windowMs) / 1_000) return onTooSlow()
      this.#bytesInWindow = 0
      timer.refresh()
    }, windowMs)
    this.#timer = timer.unref()
  }

  /** Counts a chunk. Returns false if there are too many for their size. */
  count(bytes: number): boolean {
    if (this.#chunksInTurn === 0) setImmediate(() => this.#beginTurn())
    this.#chunksInTurn++
    this.#bytesInWindow += bytes
    this.#bytesInTurn += bytes
    return (
      this.#chunksInTurn <= MAX_TINY_CHUNKS || this.#bytesInTurn >= MIN_MEAN_CHUNK_BYTES * this.#chunksInTurn
    )
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #beginTurn(): void {
    this.#chunksInTurn = 0
    this.#bytesInTurn = 0
  }
}
