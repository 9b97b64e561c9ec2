/** Where the program reads the time of day. Tests move it; nothing else calls `Date.now()`. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
