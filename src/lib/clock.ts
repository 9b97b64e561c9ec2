import type { InterruptibleSleep } from './interruptible-sleep.ts'

/** Where the program reads the time of day. Tests move it; nothing else calls `Date.now()`. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Rings when it was moved, where whoever moves it can tell: who waits for a moment looks again. */
  readonly moved?: InterruptibleSleep
}

export const systemClock: Clock = { now: () => Date.now() }
