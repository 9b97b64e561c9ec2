/** Long enough to spare most look-ups the wait, short enough for a restarted server to be found soon. */
const DEAD_MS = 5_000
/** An answer moves the mean by one part in so many. */
const SMOOTHING = 16

interface State {
  /** Milliseconds on the clock; a server is asked last until then. */
  deadUntil: number
  lastHeard: number
  suspect: boolean
  /** How long its answers take now, smoothed. */
  answerMs: number
}

/** Remembers briefly which servers were silent or unreachable, so that they are asked last. Never excludes one. */
export class ServerHealth {
  readonly #states: readonly State[]
  /** The order while all are well, or one for each turn. */
  readonly #orders: readonly (readonly number[])[]
  readonly #now: () => number
  #turn = 0
  #suspects = 0

  /** @param inTurn each look-up begins with another server, so that all of them share the work */
  constructor(count: number, now: () => number, inTurn = false) {
    this.#states = Array.from({ length: count }, () => ({
      deadUntil: Number.NEGATIVE_INFINITY,
      lastHeard: Number.NEGATIVE_INFINITY,
      suspect: false,
      answerMs: 0,
    }))
    const servers = this.#states.map((_, server) => server)
    this.#orders = (inTurn ? servers : [0]).map((first) => [
      ...servers.slice(first),
      ...servers.slice(0, first),
    ])
    this.#now = now
  }

  /** Indices of all servers in the order in which to ask them: as configured or in turn, the dead ones last. */
  order(): readonly number[] {
    this.#turn = (this.#turn + 1) % this.#orders.length
    const order = this.#orders[this.#turn] ?? []
    if (this.#suspects === 0) return order
    const now = this.#now()
    const alive: number[] = []
    const dead: number[] = []
    for (const server of order) {
      const state = this.#states[server]
      if (state === undefined) continue
      if (state.deadUntil > now) {
        dead.push(server)
        continue
      }
      alive.push(server)
      // One look-up finds out whether the server is back; the others keep away from it until it has answered.
      if (state.suspect) state.deadUntil = now + DEAD_MS
    }
    return [...alive, ...dead]
  }

  isDead(server: number): boolean {
    return this.#suspects > 0 && (this.#states[server]?.deadUntil ?? 0) > this.#now()
  }

  /** @param askedAt when it was, where that is beyond doubt */
  heard(server: number, askedAt?: number): void {
    const state = this.#states[server]
    if (state === undefined) return
    state.lastHeard = this.#now()
    if (askedAt !== undefined) state.answerMs += (state.lastHeard - askedAt - state.answerMs) / SMOOTHING
    if (!state.suspect) return
    state.suspect = false
    state.deadUntil = Number.NEGATIVE_INFINITY
    this.#suspects--
  }

  /** How long its silence may be taken for thought. Behind thousands of questions an answer takes longer. */
  startTimeoutMs(server: number): number {
    return 2 * (this.#states[server]?.answerMs ?? 0)
  }

  /** An attempt sent at that time has had no answer. One slow name proves nothing about a server that answers others. */
  silentSince(server: number, sentAt: number): void {
    const state = this.#states[server]
    if (state !== undefined && state.lastHeard < sentAt) this.#bury(state)
  }

  unreachable(server: number): void {
    const state = this.#states[server]
    if (state !== undefined) this.#bury(state)
  }

  #bury(state: State): void {
    state.deadUntil = this.#now() + DEAD_MS
    if (state.suspect) return
    state.suspect = true
    this.#suspects++
  }
}
