import type { Answer, Failure } from './classify.ts'
import type { Query } from './message.ts'
import type { Server, FinalReply } from './server.ts'

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

/** How a server failed in a look-up. */
type ServerFailure = 'refused' | 'failed' | 'unreachable'

export const FAILED_LOOKUP: LookupResult = { answer: { kind: 'failed' }, ttl: undefined }

/**
 * One look-up over several servers. Queries the next server if one fails or stays silent, and still accepts a late
 * answer; each attempt has its own id. The first conclusion wins.
 */
export class Lookup {
  readonly result: Promise<LookupResult>
  readonly #query: Query
  /** In the order to query them. */
  readonly #servers: readonly Server[]
  readonly #settings: LookupSettings
  readonly #failures = new Map<Server, ServerFailure>()
  /** Cancel the attempts. */
  readonly #cancels: (() => void)[] = []
  readonly #resolve: (result: LookupResult) => void
  readonly #endsAt: number
  #timer: NodeJS.Timeout | undefined
  #tries = 0

  constructor(query: Query, servers: readonly Server[], settings: LookupSettings) {
    this.#query = query
    this.#servers = servers
    this.#settings = settings
    const { promise, resolve } = Promise.withResolvers<LookupResult>()
    this.result = promise
    this.#resolve = resolve
    this.#endsAt = performance.now() + settings.deadlineMs
    this.#ask()
  }

  /** Ends the look-up now, as a failure. */
  abort(): void {
    this.#finish(FAILED_LOOKUP)
  }

  #ask(): void {
    const { retryMs, now } = this.#settings
    const round = Math.floor(this.#tries / this.#servers.length)
    const server = this.#nextServer()
    if (server === undefined) return this.#wait(Number.POSITIVE_INFINITY, () => undefined)
    const sentAt = now()
    this.#cancels.push(server.ask(this.#query, (reply) => this.#settle(server, reply)))
    this.#wait(retryMs * 2 ** round, () => server.silentSince(sentAt))
  }

  /** Cycles through the servers, skipping those that have failed. */
  #nextServer(): Server | undefined {
    for (let skipped = 0; skipped < this.#servers.length && this.#tries < MAX_ATTEMPTS; skipped++) {
      const server = this.#servers[this.#tries++ % this.#servers.length]
      if (server !== undefined && !this.#failures.has(server)) return server
    }
    return undefined
  }

  /** Waits until the latest attempt counts as unanswered, and then asks again, unless the deadline has come. */
  #wait(delayMs: number, unanswered: () => void): void {
    const remaining = Math.max(0, this.#endsAt - performance.now())
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        unanswered()
        if (delayMs >= remaining) this.#giveUp()
        else this.#ask()
      },
      Math.min(delayMs, remaining),
    )
  }

  #settle(server: Server, reply: FinalReply): void {
    if (reply.kind === 'answer') return this.#finish(reply)
    // Both of two attempts at a server that became unreachable report it.
    if (this.#failures.has(server)) return
    this.#failures.set(server, reply.kind)
    if (this.#servers.every((other) => this.#failures.has(other))) this.#giveUp()
    else this.#ask()
  }

  #giveUp(): void {
    this.#finish({ answer: this.#combineFailures(), ttl: undefined })
  }

  /**
   * SERVFAIL takes precedence over silence, because that server tried and could not resolve the name. Silence takes precedence
   * over a refusal, which is about the client and not about the name. An unreachable server counts only if there is no other.
   */
  #combineFailures(): Failure {
    const failures = new Set(this.#failures.values())
    if (failures.has('failed')) return { kind: 'failed' }
    if (this.#failures.size < this.#servers.length) return { kind: 'timeout' }
    return { kind: failures.has('refused') ? 'refused' : 'failed' }
  }

  /** Cancelled attempts settle no more. */
  #finish(result: LookupResult): void {
    clearTimeout(this.#timer)
    for (const cancel of this.#cancels) cancel()
    this.#resolve(result)
  }
}
