/** How long a dead server is queried last: spares most look-ups the wait, but finds a restarted server soon. */
const DEAD_MS = 5_000
/** Weight of an answer in the moving average, as 1/n. */
const SMOOTHING = 16
const HEALTHY = Number.NEGATIVE_INFINITY

interface State {
  /** The server is queried last until then, in milliseconds of the clock; `HEALTHY` if it answered last time. */
  deadUntil: number
  lastHeard: number
  /** Moving average of its response time. */
  answerMs: number
}

/** Remembers which servers were recently silent or unreachable, so that they are queried last. Never excludes one. */
export class ServerHealth {
  readonly #states: readonly State[]
  /** The order of healthy servers, or one order for each turn. */
  readonly #orders: readonly (readonly number[])[]
  readonly #now: () => number
  #turn = 0

  /** @param inTurn each look-up starts with the next server, so that all share the load */
  constructor(count: number, now: () => number, inTurn = false) {
    this.#states = Array.from({ length: count }, () => ({
      deadUntil: HEALTHY,
      lastHeard: Number.NEGATIVE_INFINITY,
      answerMs: 0,
    }))
    const servers = this.#states.map((_, server) => server)
    this.#orders = (inTurn ? servers : [0]).map((first) => [
      ...servers.slice(first),
      ...servers.slice(0, first),
    ])
    this.#now = now
  }

  /** Returns the indices of all servers in the order to query them: as configured or in turn, dead ones last. */
  order(): readonly number[] {
    this.#turn = (this.#turn + 1) % this.#orders.length
    const order = this.#orders[this.#turn] ?? []
    if (this.#states.every(({ deadUntil }) => deadUntil === HEALTHY)) return order
    const alive = order.filter((server) => !this.isDead(server))
    const dead = order.filter((server) => !alive.includes(server))
    // One look-up tries whether a server is back; others wait for its answer.
    for (const server of alive) if (this.#states[server]?.deadUntil !== HEALTHY) this.unreachable(server)
    return [...alive, ...dead]
  }

  isDead(server: number): boolean {
    return (this.#states[server]?.deadUntil ?? HEALTHY) > this.#now()
  }

  /** @param sentAt when the query was sent, if that is certain */
  heard(server: number, sentAt?: number): void {
    const state = this.#states[server]
    if (state === undefined) return
    state.lastHeard = this.#now()
    if (sentAt !== undefined) state.answerMs += (state.lastHeard - sentAt - state.answerMs) / SMOOTHING
    state.deadUntil = HEALTHY
  }

  /** Returns how long to wait for an answer, which takes longer under load. */
  startTimeoutMs(server: number): number {
    return 2 * (this.#states[server]?.answerMs ?? 0)
  }

  /**
   * Records that an attempt sent at this time got no answer. Ignored if the server has answered others since: one
   * name may just be slow.
   */
  silentSince(server: number, sentAt: number): void {
    const state = this.#states[server]
    if (state !== undefined && state.lastHeard < sentAt) this.unreachable(server)
  }

  unreachable(server: number): void {
    const state = this.#states[server]
    if (state !== undefined) state.deadUntil = this.#now() + DEAD_MS
  }
}
