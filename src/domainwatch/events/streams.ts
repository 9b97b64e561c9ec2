import type { ServerResponse } from 'node:http'
import { Overload } from '../../core/errors.ts'

/** A reader that takes nothing for so long, while something waits for it, is cut off. */
const STALLED_MS = 30_000
const LOOK_MS = 1_000
/** From the order to stop until readers that have not taken their last bytes are cut off. */
const STOP_MS = 1_000
/** When one should come back that found no place. */
const RETRY_AFTER_S = 30

interface Open {
  readonly account: number
  readonly response: ServerResponse
  readonly ending: AbortController
  /** When its reader last took all there was. */
  movedAt: number
}

/** The streams that are open in this process: how many there may be, and when they are cut off. */
export class EventStreams {
  readonly #max: number
  readonly #perAccount: number
  readonly #stalledMs: number
  readonly #open = new Set<Open>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** One account may have half of them. */
  constructor(max: number, stalledMs = STALLED_MS) {
    this.#max = max
    this.#perAccount = Math.max(1, Math.floor(max / 2))
    this.#stalledMs = stalledMs
  }

  get count(): number {
    return this.#open.size
  }

  /**
   * Takes a place for as long as the response is open.
   * @returns the signal to end it: its reader has gone, or the process stops
   * @throws Overload when there is no place
   */
  open(account: number, response: ServerResponse): AbortSignal {
    const own = [...this.#open].filter((one) => one.account === account).length
    if (this.#closed || this.#open.size >= this.#max || own >= this.#perAccount) {
      throw new Overload(RETRY_AFTER_S)
    }
    const one: Open = { account, response, ending: new AbortController(), movedAt: performance.now() }
    this.#open.add(one)
    this.#timer ??= setInterval(() => this.#look(), Math.min(LOOK_MS, this.#stalledMs / 2)).unref()
    response.on('drain', () => (one.movedAt = performance.now()))
    response.once('close', () => {
      one.ending.abort()
      this.#open.delete(one)
      if (this.#open.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    })
    return one.ending.signal
  }

  /** Ends all of them, and lets none begin. */
  close(): void {
    this.#closed = true
    for (const { ending } of this.#open) ending.abort()
    setTimeout(() => {
      for (const { response } of this.#open) response.destroy()
    }, STOP_MS).unref()
  }

  #look(): void {
    const now = performance.now()
    for (const one of this.#open) {
      if (!one.response.writableNeedDrain) one.movedAt = now
      else if (now - one.movedAt > this.#stalledMs) one.response.destroy()
    }
  }
}
