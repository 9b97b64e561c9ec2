import type { InterruptibleSleep } from './interruptible-sleep.ts'

/** The wall clock. Tests replace it; nothing else calls `Date.now()`. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
  /** Wakes sleepers when a test sets the clock, so that they check the time again. */
  readonly moved?: InterruptibleSleep
}

export const systemClock: Clock = { now: () => Date.now() }

/** Seconds since 1970-01-01 UTC. */
export const secondsOf = (clock: Clock): number => Math.floor(clock.now() / 1000)
