import type { AttemptListener, Attempt, FinalReply } from './exchange.ts'
import { combineFailures } from './outcomes.ts'
import type { Answer, ServerFailure } from './outcomes.ts'
import type { Upstream } from './upstream.ts'
import type { Query } from './wire.ts'

export interface LookupResult {
  readonly answer: Answer
  /** Seconds, uncapped; undefined for a failure. */
  readonly ttl: number | undefined
}

export interface LookupSettings {
  /** Maximum duration of the look-up, in milliseconds. */
  readonly deadlineMs: number
  /** Silence after which the next server is queried as well; doubles with each round over all servers. */
  readonly retryMs: number
  readonly now: () => number
}

/** Receives the outcome of a look-up, once. */
export interface LookupOwner {
  landed(result: LookupResult): void
}

const MAX_ATTEMPTS = 8
/** A slow server gets at most this fraction of the time (1/n), so that there is time left for a retry. */
const MAX_WAIT_FRACTION = 5
/** Shared and never modified. */
const NONE_FAILED: (ServerFailure | undefined)[] = []

/**
 * One look-up over several servers. Queries the next server if one fails or stays silent, and still accepts a late
 * answer; each attempt has its own id and port. The first conclusion wins.
 */
export class Lookup implements AttemptListener {
  readonly #query: Query
  readonly #upstream: Upstream
  readonly #settings: LookupSettings
  readonly #owner: LookupOwner
  readonly #order: readonly number[]
  /** By server; usually empty. */
  #failures: (ServerFailure | undefined)[] = NONE_FAILED
  /** The latest attempt, and the earlier ones whose answers are still accepted. */
  #attempt: Attempt | undefined
  #earlier: Attempt[] | undefined
  #timer: NodeJS.Timeout | undefined
  #tries = 0
  #endsAt: number
  #isLastWait = false
  /** The server queried last, and when; undefined if there was none left. */
  #latest: number | undefined
  #sentAt = 0
  #startedAt = 0
  #finished = false

  constructor(query: Query, upstream: Upstream, settings: LookupSettings, owner: LookupOwner) {
    this.#query = query
    this.#upstream = upstream
    this.#settings = settings
    this.#owner = owner
    this.#order = upstream.health.order()
    this.#endsAt = performance.now() + settings.deadlineMs
    this.#ask()
  }

  /** Ends the look-up now, as a failure. */
  abort(): void {
    this.#finish({ answer: { kind: 'failed' }, ttl: undefined })
  }

  #ask(): void {
    const { retryMs, deadlineMs, now } = this.#settings
    const round = Math.floor(this.#tries / this.#order.length)
    const server = this.#nextServer()
    this.#latest = server
    if (server === undefined) return this.#wait(deadlineMs)
    this.#sentAt = now()
    if (this.#attempt === undefined) this.#startedAt = this.#sentAt
    if (this.#attempt !== undefined) (this.#earlier ??= []).push(this.#attempt)
    this.#attempt = this.#upstream.exchange.ask(server, this.#query, this)
    // Retrying a server that is only busy would add to its load.
    const patience = Math.min(this.#upstream.health.startTimeoutMs(server), deadlineMs / MAX_WAIT_FRACTION)
    this.#wait(Math.max(retryMs * 2 ** round, patience))
  }

  /** Cycles through the servers, skipping those that have failed. */
  #nextServer(): number | undefined {
    for (let skipped = 0; skipped < this.#order.length && this.#tries < MAX_ATTEMPTS; skipped++) {
      const server = this.#order[this.#tries++ % this.#order.length]
      if (server !== undefined && this.#failures[server] === undefined) return server
    }
    return undefined
  }

  /** Waits until the latest attempt counts as unanswered. */
  #wait(delayMs: number): void {
    const { deadlineMs } = this.#settings
    const isFirst = this.#tries === 1
    const remaining = isFirst ? deadlineMs : this.#endsAt - performance.now()
    this.#isLastWait = delayMs >= remaining
    clearTimeout(this.#timer)
    this.#timer = setTimeout(onTimeout, Math.min(delayMs, remaining), this)
  }

  /** Called when the latest attempt counts as unanswered. */
  waited(): void {
    if (this.#latest !== undefined) this.#upstream.health.silentSince(this.#latest, this.#sentAt)
    if (this.#isLastWait) this.#giveUp()
    else this.#ask()
  }

  heard(server: number): void {
    this.#upstream.health.heard(server, server === this.#order[0] ? this.#startedAt : undefined)
  }

  settle(server: number, reply: FinalReply): void {
    if (this.#finished) return
    if (reply.kind === 'answer') {
      this.#finish(reply)
      return
    }
    if (reply.kind === 'unreachable') this.#upstream.health.unreachable(server)
    if (this.#failures === NONE_FAILED) this.#failures = []
    this.#failures[server] = reply.kind
    const silent = this.#order.filter((other) => this.#failures[other] === undefined)
    if (silent.length === 0) {
      this.#giveUp()
      return
    }
    // If all silent servers were considered dead before, one more round is enough to find one that is back.
    if (silent.every((other) => this.#upstream.health.isDead(other))) {
      this.#endsAt = Math.min(this.#endsAt, performance.now() + 2 * this.#settings.retryMs)
    }
    this.#ask()
  }

  #giveUp(): void {
    const failures = this.#order.map((server) => this.#failures[server] ?? 'silent')
    this.#finish({ answer: combineFailures(failures), ttl: undefined })
  }

  #finish(result: LookupResult): void {
    if (this.#finished) return
    this.#finished = true
    clearTimeout(this.#timer)
    this.#attempt?.cancel()
    if (this.#earlier !== undefined) for (const attempt of this.#earlier) attempt.cancel()
    this.#owner.landed(result)
  }
}

/** One function for all timers, because a closure for each look-up would cost more. */
const onTimeout = (lookup: Lookup): void => lookup.waited()
