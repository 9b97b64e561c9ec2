import type { Asker, Attempt, FinalReply } from './exchange.ts'
import { combineFailures } from './outcomes.ts'
import type { NameServerAnswer, ServerFailure } from './outcomes.ts'
import type { Upstream } from './upstream.ts'
import type { Query } from './wire.ts'

export interface LookupResult {
  readonly answer: NameServerAnswer
  /** Seconds, uncapped; undefined for an outcome that is no statement of the DNS about the name. */
  readonly ttl: number | undefined
}

export interface LookupSettings {
  /** The whole look-up ends by then, in milliseconds from its start. */
  readonly deadlineMs: number
  /** How long a server may be silent before the next is asked as well; doubles with each round over all servers. */
  readonly retryMs: number
  readonly now: () => number
}

const MAX_ATTEMPTS = 8

/** One function for all timers: they are set for every look-up, and hardly ever ring. */
const endWait = (lookup: Lookup): void => lookup.waited()

/**
 * One look-up over several servers. The next server is started while a silent one is still listened to, at once
 * where one has failed; each attempt has an id and a port of its own. The first conclusion wins.
 */
export class Lookup implements Asker {
  readonly #query: Query
  readonly #upstream: Upstream
  readonly #settings: LookupSettings
  readonly #done: (result: LookupResult) => void
  readonly #order: readonly number[]
  /** By server. */
  readonly #failures: (ServerFailure | undefined)[] = []
  readonly #attempts: Attempt[] = []
  #tries = 0
  #endsAt: number
  #timer: NodeJS.Timeout | undefined
  #isLastWait = false
  /** The server that was asked last, and when; undefined when there was none left to ask. */
  #latest: number | undefined
  #sentAt = 0
  #finished = false

  constructor(
    query: Query,
    upstream: Upstream,
    settings: LookupSettings,
    done: (result: LookupResult) => void,
  ) {
    this.#query = query
    this.#upstream = upstream
    this.#settings = settings
    this.#done = done
    this.#order = upstream.health.order()
    this.#endsAt = performance.now() + settings.deadlineMs
    this.#attempt()
  }

  /** Ends the look-up now, as a failure. */
  abort(): void {
    this.#finish({ answer: { kind: 'failed' }, ttl: undefined })
  }

  #attempt(): void {
    const round = Math.floor(this.#tries / this.#order.length)
    const server = this.#nextServer()
    if (server !== undefined) {
      this.#sentAt = this.#settings.now()
      this.#attempts.push(this.#upstream.exchange.ask(server, this.#query, this))
      this.#wait(this.#settings.retryMs * 2 ** round)
    } else {
      this.#wait(this.#settings.deadlineMs)
    }
    this.#latest = server
  }

  /** Round and round over the servers, past those that have failed for good. */
  #nextServer(): number | undefined {
    for (let skipped = 0; skipped < this.#order.length && this.#tries < MAX_ATTEMPTS; skipped++) {
      const server = this.#order[this.#tries++ % this.#order.length]
      if (server !== undefined && this.#failures[server] === undefined) return server
    }
    return undefined
  }

  /** Until the latest attempt counts as unanswered. */
  #wait(delayMs: number): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    const remaining =
      this.#attempts.length === 1 ? this.#settings.deadlineMs : this.#endsAt - performance.now()
    this.#isLastWait = delayMs >= remaining
    this.#timer = setTimeout(endWait, Math.ceil(Math.max(0, Math.min(delayMs, remaining))), this)
  }

  /** For the timer alone. */
  waited(): void {
    if (this.#latest !== undefined) this.#upstream.health.silentSince(this.#latest, this.#sentAt)
    if (this.#isLastWait) this.#giveUp()
    else this.#attempt()
  }

  heard(server: number): void {
    this.#upstream.health.heard(server)
  }

  settle(server: number, reply: FinalReply): void {
    if (this.#finished) return
    if (reply.kind === 'answer') {
      this.#finish({ answer: reply.answer, ttl: reply.ttl })
      return
    }
    if (reply.kind === 'unreachable') this.#upstream.health.unreachable(server)
    this.#failures[server] = reply.kind
    const silent = this.#order.filter((other) => this.#failures[other] === undefined)
    if (silent.length === 0) {
      this.#giveUp()
      return
    }
    // When all that can still speak were dead before, one more round is enough for them to show life.
    if (silent.every((other) => this.#upstream.health.isDead(other))) {
      this.#endsAt = Math.min(this.#endsAt, performance.now() + 2 * this.#settings.retryMs)
    }
    this.#attempt()
  }

  #giveUp(): void {
    const failures = this.#order.map((server) => this.#failures[server] ?? 'silent')
    this.#finish({ answer: combineFailures(failures), ttl: undefined })
  }

  #finish(result: LookupResult): void {
    if (this.#finished) return
    this.#finished = true
    clearTimeout(this.#timer)
    for (const attempt of this.#attempts) attempt.cancel()
    this.#done(result)
  }
}
