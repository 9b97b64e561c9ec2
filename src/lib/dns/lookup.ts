import type { Asker, Attempt, FinalReply } from './exchange.ts'
import { combineFailures } from './outcomes.ts'
import type { Answer, ServerFailure } from './outcomes.ts'
import type { Upstream } from './upstream.ts'
import { Wait, type Waits } from './waits.ts'
import type { Query } from './wire.ts'

export interface LookupResult {
  readonly answer: Answer
  /** Seconds, uncapped; undefined for a failure. */
  readonly ttl: number | undefined
}

export interface LookupSettings {
  /** The whole look-up ends by then, in milliseconds from its start. */
  readonly deadlineMs: number
  /** How long a server may be silent before the next is asked as well; doubles with each round over all servers. */
  readonly retryMs: number
  readonly waits: Waits
  readonly now: () => number
}

/** Who is told how a look-up ended: once. */
export interface LookupOwner {
  landed(result: LookupResult): void
}

const MAX_ATTEMPTS = 8
/** A slow server is waited for no longer than this part of the time: there must be some left to ask again. */
const MOST_PATIENCE = 5
/** Never written to. */
const NONE_FAILED: (ServerFailure | undefined)[] = []

/**
 * One look-up over several servers. The next server is started while a silent one is still listened to, at once
 * where one has failed; each attempt has an id and a port of its own. The first conclusion wins.
 */
export class Lookup extends Wait implements Asker {
  readonly #query: Query
  readonly #upstream: Upstream
  readonly #settings: LookupSettings
  readonly #owner: LookupOwner
  readonly #order: readonly number[]
  /** By server; there is none as a rule. */
  #failures: (ServerFailure | undefined)[] = NONE_FAILED
  /** The latest, and those before it, which are still listened to. */
  #attempt: Attempt | undefined
  #earlier: Attempt[] | undefined
  #tries = 0
  #endsAt: number
  #isLastWait = false
  /** The server that was asked last, and when; undefined when there was none left to ask. */
  #latest: number | undefined
  #sentAt = 0
  #startedAt = 0
  #finished = false

  constructor(query: Query, upstream: Upstream, settings: LookupSettings, owner: LookupOwner) {
    super()
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
    // Asking again whoever is only busy would make him busier.
    const patience = Math.min(this.#upstream.health.startTimeoutMs(server), deadlineMs / MOST_PATIENCE)
    this.#wait(Math.max(retryMs * 2 ** round, patience))
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
    const { deadlineMs, waits } = this.#settings
    const isFirst = this.#tries === 1
    const remaining = isFirst ? deadlineMs : this.#endsAt - performance.now()
    this.#isLastWait = delayMs >= remaining
    waits.set(this, Math.max(0, Math.min(delayMs, remaining)))
  }

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
    // When all that can still speak were dead before, one more round is enough for them to show life.
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
    this.#settings.waits.clear(this)
    this.#attempt?.cancel()
    if (this.#earlier !== undefined) for (const attempt of this.#earlier) attempt.cancel()
    this.#owner.landed(result)
  }
}
