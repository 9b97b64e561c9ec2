import type { ServerResponse } from 'node:http'
import { OverloadError } from '../../lib/errors.ts'

/** A client that reads nothing of a full buffer for this long is disconnected. */
const STALLED_MS = 30_000
const CHECK_INTERVAL_MS = 1_000
/** How long an ended stream may take to flush its last bytes. */
const STOP_MS = 1_000
/** `Retry-After` of a rejected stream, in seconds. */
const RETRY_AFTER_S = 30

interface OpenStream {
  readonly account: number
  readonly response: ServerResponse
  readonly ending: AbortController
  /** When its buffer was last empty. */
  drainedAt: number
}

/** Limits the open streams of one kind in this process, with a fair share per account, and disconnects stalled clients. */
export class StreamLimiter {
  readonly #max: number
  readonly #perAccount: number
  readonly #stalledMs: number
  readonly #open = new Set<OpenStream>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** @param perAccount maximum of one account, by default half of `max` */
  constructor(max: number, stalledMs = STALLED_MS, perAccount = Math.max(1, Math.floor(max / 2))) {
    this.#max = max
    this.#perAccount = perAccount
    this.#stalledMs = stalledMs
  }

  get count(): number {
    return this.#open.size
  }

  /**
   * Registers a stream until its response closes. If all slots are taken, the account with most streams loses its newest one
   * to an account that will still have fewer.
   * @returns a signal that ends the stream: the client left, another account needs its slot, or the process stops
   * @throws OverloadError if there is no slot
   */
  open(account: number, response: ServerResponse): AbortSignal {
    const own = this.#of(account).length
    if (this.#closed || own >= this.#perAccount || (this.#open.size >= this.#max && !this.#displace(own)))
      throw new OverloadError(RETRY_AFTER_S)
    const stream: OpenStream = {
      account,
      response,
      ending: new AbortController(),
      drainedAt: performance.now(),
    }
    this.#open.add(stream)
    this.#timer ??= setInterval(
      () => this.#disconnectStalled(),
      Math.min(CHECK_INTERVAL_MS, this.#stalledMs / 2),
    ).unref()
    response.on('drain', () => (stream.drainedAt = performance.now()))
    response.once('close', () => {
      stream.ending.abort()
      this.#open.delete(stream)
      if (this.#open.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    })
    return stream.ending.signal
  }

  #of(account: number): OpenStream[] {
    return [...this.#open].filter((stream) => stream.account === account)
  }

  /** Frees a slot for an account with `own` streams. Returns false if no account has more than it would have then. */
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

  /** Ends all streams and rejects new ones. */
  close(): void {
    this.#closed = true
    for (const { ending } of this.#open) ending.abort()
    setTimeout(() => {
      for (const { response } of this.#open) response.destroy()
    }, STOP_MS).unref()
  }

  #disconnectStalled(): void {
    const now = performance.now()
    for (const stream of this.#open) {
      if (!stream.response.writableNeedDrain) stream.drainedAt = now
      else if (now - stream.drainedAt > this.#stalledMs) stream.response.destroy()
    }
  }
}
