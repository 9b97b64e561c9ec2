import type { Exchange, FinalReply } from './exchange.ts'
import { combineFailures } from './outcomes.ts'
import type { NameServerAnswer, ServerFailure } from './outcomes.ts'
import type { ServerHealth } from './server-health.ts'
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

/**
 * One look-up over several servers. The next server is started while a silent one is still listened to, at once
 * where one has failed; each attempt has an id and a port of its own. The first conclusion wins.
 */
export class Lookup {
  readonly #query: Query
  readonly #exchange: Exchange
  readonly #health: ServerHealth
  readonly #settings: LookupSettings
  readonly #done: (result: LookupResult) => void
  readonly #order: readonly number[]
  readonly #failures = new Map<number, ServerFailure>()
  readonly #cancels: (() => void)[] = []
  #attempts = 0
  #endsAt: number
  #timer: NodeJS.Timeout | undefined
  #finished = false

  constructor(
    query: Query,
    exchange: Exchange,
    health: ServerHealth,
    settings: LookupSettings,
    done: (result: LookupResult) => void,
  ) {
    this.#query = query
    this.#exchange = exchange
    this.#health = health
    this.#settings = settings
    this.#done = done
    this.#order = health.order()
    this.#endsAt = performance.now() + settings.deadlineMs
    this.#attempt()
  }

  /** Ends the look-up now, as a failure. */
  abort(): void {
    this.#finish({ answer: { kind: 'failed' }, ttl: undefined })
  }

  #attempt(): void {
    const round = Math.floor(this.#attempts / this.#order.length)
    const server = this.#nextServer()
    if (server !== undefined) {
      const sentAt = this.#settings.now()
      this.#cancels.push(
        this.#exchange.ask(
          server,
          this.#query,
          () => this.#health.heard(server),
          (reply) => this.#settle(server, reply),
        ),
      )
      this.#wait(this.#settings.retryMs * 2 ** round, () => this.#health.silentSince(server, sentAt))
    } else {
      this.#wait(this.#settings.deadlineMs, () => undefined)
    }
  }

  /** Round and round over the servers, past those that have failed for good. */
  #nextServer(): number | undefined {
    for (let skipped = 0; skipped < this.#order.length && this.#attempts < MAX_ATTEMPTS; skipped++) {
      const server = this.#order[this.#attempts++ % this.#order.length]
      if (server !== undefined && !this.#failures.has(server)) return server
    }
    return undefined
  }

  #wait(delayMs: number, onSilence: () => void): void {
    clearTimeout(this.#timer)
    const remaining = Math.max(0, this.#endsAt - performance.now())
    this.#timer = setTimeout(
      () => {
        onSilence()
        if (delayMs >= remaining) this.#giveUp()
        else this.#attempt()
      },
      Math.ceil(Math.min(delayMs, remaining)),
    )
  }

  #settle(server: number, reply: FinalReply): void {
    if (this.#finished) return
    if (reply.kind === 'answer') {
      this.#finish({ answer: reply.answer, ttl: reply.ttl })
      return
    }
    if (reply.kind === 'unreachable') this.#health.unreachable(server)
    this.#failures.set(server, reply.kind)
    const silent = this.#order.filter((other) => !this.#failures.has(other))
    if (silent.length === 0) {
      this.#giveUp()
      return
    }
    // When all that can still speak were dead before, one more round is enough for them to show life.
    if (silent.every((other) => this.#health.isDead(other))) {
      this.#endsAt = Math.min(this.#endsAt, performance.now() + 2 * this.#settings.retryMs)
    }
    this.#attempt()
  }

  #giveUp(): void {
    const failures = this.#order.map((server) => this.#failures.get(server) ?? 'silent')
    this.#finish({ answer: combineFailures(failures), ttl: undefined })
  }

  #finish(result: LookupResult): void {
    if (this.#finished) return
    this.#finished = true
    clearTimeout(this.#timer)
    for (const cancel of this.#cancels) cancel()
    this.#done(result)
  }
}
