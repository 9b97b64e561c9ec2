import type { IncomingMessage } from 'node:http'

/** Limits per turn of the event loop: bytes read of all bodies, and paused bodies that are resumed. */
const BYTES_PER_TURN = 1024 * 1024
const BODIES_PER_TURN = 16

/**
 * Chunks of a body per turn that may have any size, and the mean size of more, in bytes: a tiny chunk costs as much as a large one. A
 * client that has little to send at a time stays far below.
 */
const MAX_TINY_CHUNKS = 16_384
const MIN_MEAN_CHUNK_BYTES = 16

/**
 * Limits how many bytes of all bodies are read per turn of the event loop. Each turn accepts one connection: without a limit, a
 * hundred clients that send large bodies make turns so long that new connections wait for seconds.
 */
export class ReadTurns {
  readonly #waiting = new Map<string, IncomingMessage[]>()
  /** Changes with each turn in which bodies are read. */
  turn = 0
  #left = BYTES_PER_TURN
  #isScheduled = false

  /** Counts bytes read. Past the limit the request is paused; clients are resumed in round-robin order. */
  count(request: IncomingMessage, client: string, bytes: number): void {
    this.#left -= bytes
    this.#schedule()
    if (this.#left > 0) return
    request.pause()
    const queue = this.#waiting.get(client)
    if (queue === undefined) this.#waiting.set(client, [request])
    else queue.push(request)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#isScheduled = false
    this.#left = BYTES_PER_TURN
    this.turn++
    for (let resumed = 0; resumed < BODIES_PER_TURN; resumed++) {
      const [next] = this.#waiting
      if (next === undefined) return
      const [client, queue] = next
      queue.shift()?.resume()
      // Reinserted last, so that all other clients come first.
      this.#waiting.delete(client)
      if (queue.length > 0) this.#waiting.set(client, queue)
    }
    if (this.#waiting.size > 0) this.#schedule()
  }
}

/** Minimum transfer rate of a body. */
export interface MinTransferRate {
  /** Average in each window; 0 for no limit. */
  readonly bytesPerSecond: number
  readonly windowMs: number
}

/** Watches the transfer of a body: its rate, and the size of its chunks in each turn of the event loop. */
export class TransferWatch {
  readonly #turns: ReadTurns
  readonly #timer: NodeJS.Timeout | undefined
  #bytesInWindow = 0
  #turn = 0
  #chunks = 0
  #bytesInTurn = 0

  /** @param onTooSlow called if the rate is below its minimum in any window; the timer does not keep the process alive */
  constructor({ bytesPerSecond, windowMs }: MinTransferRate, turns: ReadTurns, onTooSlow: () => void) {
    this.#turns = turns
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
    if (this.#turn !== this.#turns.turn) {
      this.#turn = this.#turns.turn
      this.#chunks = 0
      this.#bytesInTurn = 0
    }
    this.#chunks++
    this.#bytesInWindow += bytes
    this.#bytesInTurn += bytes
    return this.#chunks <= MAX_TINY_CHUNKS || this.#bytesInTurn >= MIN_MEAN_CHUNK_BYTES * this.#chunks
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
