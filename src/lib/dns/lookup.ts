import type { AttemptListener, Attempt, FinalReply } from './exchange.ts'
import type { Answer, Failure } from './classify.ts'
import type { Upstream } from './upstreams.ts'
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

const MAX_ATTEMPTS = 8
/** A slow server gets at most this fraction of the time (1/n), so that there is time left for a retry. */
const MAX_WAIT_FRACTION = 5

/** How a server failed in a look-up. */
export type ServerFailure = 'refused' | 'failed' | 'unreachable' | 'silent'

/**
 * One look-up over several servers. Queries the next server if one fails or stays silent, and still accepts a late
 * answer; each attempt has its own id and port. The first conclusion wins.
 */
export class Lookup implements AttemptListener {
  readonly #query: Query
  readonly #upstream: Upstream
  readonly #settings: LookupSettings
  readonly #order: readonly number[]
  readonly #failures = new Map<number, ServerFailure>()
  /** All attempts: late answers to earlier ones are still accepted. */
  readonly #attempts: Attempt[] = []
  readonly #resolve: (result: LookupResult) => void
  readonly result: Promise<LookupResult>
  #timer: NodeJS.Timeout | undefined
  #tries = 0
  #endsAt: number
  #isLastWait = false
  /** The server queried last, and when; undefined if there was none left. */
  #latest: number | undefined
  #sentAt = 0
  #startedAt = 0
  #finished = false

  constructor(query: Query, upstream: Upstream, settings: LookupSettings) {
    this.#query = query
    this.#upstream = upstream
    this.#settings = settings
    const { promise, resolve } = Promise.withResolvers<LookupResult>()
    this.result = promise
    this.#resolve = resolve
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
    if (this.#attempts.length === 0) this.#startedAt = this.#sentAt
    this.#attempts.push(this.#upstream.exchange.ask(server, this.#query, this))
    // Retrying a server that is only busy would add to its load.
    const patience = Math.min(this.#upstream.health.startTimeoutMs(server), deadlineMs / MAX_WAIT_FRACTION)
    this.#wait(Math.max(retryMs * 2 ** round, patience))
  }

  /** Cycles through the servers, skipping those that have failed. */
  #nextServer(): number | undefined {
    for (let skipped = 0; skipped < this.#order.length && this.#tries < MAX_ATTEMPTS; skipped++) {
      const server = this.#order[this.#tries++ % this.#order.length]
      if (server !== undefined && !this.#failures.has(server)) return server
    }
    return undefined
  }

  /** Waits until the latest attempt counts as unanswered. */
  #wait(delayMs: number): void {
    const remaining = Math.max(0, this.#endsAt - performance.now())
    this.#isLastWait = delayMs >= remaining
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#waited(), Math.min(delayMs, remaining))
  }

  /** Called when the latest attempt counts as unanswered. */
  #waited(): void {
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
    this.#failures.set(server, reply.kind)
    const silent = this.#order.filter((other) => !this.#failures.has(other))
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
    const failures = this.#order.map((server) => this.#failures.get(server) ?? 'silent')
    this.#finish({ answer: combineFailures(failures), ttl: undefined })
  }

  #finish(result: LookupResult): void {
    if (this.#finished) return
    this.#finished = true
    clearTimeout(this.#timer)
    for (const attempt of this.#attempts) attempt.cancel()
    this.#resolve(result)
  }
}

/**
 * Returns the outcome of a look-up in which every server failed.
 *
 * SERVFAIL takes precedence over silence, because that server tried and could not resolve the name. Silence takes precedence
 * over a refusal, which is about the client and not about the name. An unreachable server counts only if there is no other.
 */
export function combineFailures(failures: readonly ServerFailure[]): Failure {
  if (failures.includes('failed')) return { kind: 'failed' }
  if (failures.includes('silent')) return { kind: 'timeout' }
  if (failures.includes('refused')) return { kind: 'refused' }
  return { kind: 'failed' }
}
