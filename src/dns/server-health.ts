/** Long enough to spare most look-ups the wait, short enough for a restarted server to be found soon. */
const DEAD_MS = 5_000

interface State {
  /** Milliseconds on the clock; a server is asked last until then. */
  deadUntil: number
  lastHeard: number
  suspect: boolean
}

/** Remembers briefly which servers were silent or unreachable, so that they are asked last. Never excludes one. */
export class ServerHealth {
  readonly #states: readonly State[]
  readonly #configured: readonly number[]
  readonly #now: () => number
  #suspects = 0

  constructor(count: number, now: () => number) {
    this.#states = Array.from({ length: count }, () => ({
      deadUntil: Number.NEGATIVE_INFINITY,
      lastHeard: Number.NEGATIVE_INFINITY,
      suspect: false,
    }))
    this.#configured = this.#states.map((_, server) => server)
    this.#now = now
  }

  /** Indices of all servers in the order in which to ask them: as configured, the dead ones last. */
  order(): readonly number[] {
    if (this.#suspects === 0) return this.#configured
    const now = this.#now()
    const alive: number[] = []
    const dead: number[] = []
    for (const [server, state] of this.#states.entries()) {
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

  heard(server: number): void {
    const state = this.#states[server]
    if (state === undefined) return
    state.lastHeard = this.#now()
    if (!state.suspect) return
    state.suspect = false
    state.deadUntil = Number.NEGATIVE_INFINITY
    this.#suspects--
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
