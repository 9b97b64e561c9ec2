import type { ServerResponse } from 'node:http'
import { OverloadError } from '../../lib/errors.ts'

/** A reader that takes nothing for so long, while something waits for it, is cut off. */
const STALLED_MS = 30_000
const LOOK_MS = 1_000
/** From the order to end until readers that have not taken their last bytes are cut off. */
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

/** The streams of one kind that are open in this process: how many there may be, and when they are cut off. */
export class EventStreams {
  readonly #max: number
  readonly #perAccount: number
  readonly #stalledMs: number
  readonly #open = new Set<Open>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** @param perAccount how many of them one account may have; by default half */
  constructor(max: number, stalledMs = STALLED_MS, perAccount = Math.max(1, Math.floor(max / 2))) {
    this.#max = max
    this.#perAccount = perAccount
    this.#stalledMs = stalledMs
  }

  get count(): number {
    return this.#open.size
  }

  /**
   * Takes a place for as long as the response is open. When all are taken, the account that has most of them loses its
   * newest one to an account that will still have fewer: its reader may come back when there is room.
   * @returns the signal to end it: its reader has gone, another account needs its place, or the process stops
   * @throws OverloadError when there is no place
   */
  open(account: number, response: ServerResponse): AbortSignal {
    const own = this.#of(account).length
    if (this.#closed || own >= this.#perAccount || (this.#open.size >= this.#max && !this.#displace(own)))
      throw new OverloadError(RETRY_AFTER_S)
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

  #of(account: number): Open[] {
    return [...this.#open].filter((one) => one.account === account)
  }

  /** Makes room for an account that has `own` of them; false if none has more than it would have then. */
  #displace(own: number): boolean {
    const accounts = [...new Set([...this.#open].map(({ account }) => account))]
    const most = accounts.map((account) => this.#of(account)).toSorted((a, b) => b.length - a.length)[0] ?? []
    const newest = most.at(-1)
    if (newest === undefined || most.length <= own + 1) return false
    newest.ending.abort()
    this.#open.delete(newest)
    setTimeout(() => newest.response.destroy(), STOP_MS).unref()
    return true
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
