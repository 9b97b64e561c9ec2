import type { Logger } from 'pino'
import { clientGroup } from '../client.ts'

const WINDOW_MS = 60_000
/** Clients that are counted at a time; further ones are counted together. */
const MAX_CLIENTS = 10_000
const OTHERS = 'others'

/** Limits the lines that the requests of one client add to the log, so that nobody can fill the disk with them. */
export class LogQuota {
  readonly #log: Logger
  readonly #maxLines: number
  readonly #lines = new Map<string, number>()
  #lastIp = ''
  #lastClient = ''

  /** @param maxLines of one client, a minute; 0 for no limit */
  constructor(log: Logger, maxLines: number) {
    this.#log = log
    this.#maxLines = maxLines
  }

  /** Counts a request; false if it is not to be logged. What was left out is logged as a number when the minute is over. */
  take(ip: string | undefined): boolean {
    if (this.#maxLines === 0) return true
    if (this.#lines.size === 0) setTimeout(() => this.#report(), WINDOW_MS).unref()
    if (ip !== this.#lastIp) {
      this.#lastIp = ip ?? ''
      this.#lastClient = clientGroup(this.#lastIp)
    }
    const isKnown = this.#lines.size < MAX_CLIENTS || this.#lines.has(this.#lastClient)
    const client = isKnown ? this.#lastClient : OTHERS
    const lines = (this.#lines.get(client) ?? 0) + 1
    this.#lines.set(client, lines)
    return lines <= this.#maxLines
  }

  #report(): void {
    for (const [client, lines] of this.#lines) {
      const unlogged = lines - this.#maxLines
      if (unlogged > 0)
        this.#log.warn({ ip: client, requests: unlogged }, 'requests of one client not logged')
    }
    this.#lines.clear()
  }
}
