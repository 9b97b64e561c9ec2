import { setTimeout as pause } from 'node:timers/promises'
import { isPassing, Silence } from './faults.ts'

/** How long an operation is waited for. */
export interface Patience {
  readonly attempts: number
  /** An attempt without any progress for this long is given up. Milliseconds. */
  readonly silenceMs: number
  /** No attempt begins or goes on after this. Milliseconds. */
  readonly totalMs: number
}

export interface Attempt {
  /** Counts from 1. */
  readonly number: number
  /** Aborted when the attempt is given up. */
  readonly signal: AbortSignal
  /** Bytes came or went: the silence starts anew. */
  readonly progress: () => void
}

const BACKOFF_MS = 100
const MAX_BACKOFF_MS = 1_000
/** Work that was given up may clean up behind itself for this long. */
const CLEANUP_MS = 250

/**
 * Runs `work` until it succeeds, fails for good or patience is at its end. Only for what may be done twice. Pauses
 * in between are random, up to a limit that doubles, so that many callers do not come back at the same moment.
 */
export async function persist<T>(
  patience: Patience,
  work: (attempt: Attempt) => Promise<T>,
  random: () => number = Math.random,
): Promise<T> {
  const end = performance.now() + patience.totalMs
  for (let number = 1; ; number++) {
    try {
      return await once(number, patience.silenceMs, end, work)
    } catch (error) {
      const wait = random() * Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** number)
      if (number >= patience.attempts || !isPassing(error) || performance.now() + wait >= end) throw error
      await pause(wait)
    }
  }
}

/** One attempt. Settles in time even where the work itself does not heed the signal. */
async function once<T>(
  number: number,
  silenceMs: number,
  end: number,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  let timer: NodeJS.Timeout | undefined
  const tooLate = Promise.withResolvers<never>()
  const giveUp = () => {
    const silence = new Silence(`no progress for ${silenceMs} ms, or no end in time`)
    controller.abort(silence)
    timer = setTimeout(() => tooLate.reject(silence), CLEANUP_MS)
  }
  let ended = false
  const progress = () => {
    if (ended || signal.aborted) return
    clearTimeout(timer)
    timer = setTimeout(giveUp, Math.max(0, Math.min(silenceMs, end - performance.now())))
  }
  progress()
  const working = work({ number, signal, progress })
  // Whatever becomes of it once it was given up is of no interest.
  working.catch(() => {})
  try {
    return await Promise.race([working, tooLate.promise])
  } catch (error) {
    // Being aborted shows in many errors; why it was aborted shows in one.
    throw signal.aborted ? signal.reason : error
  } finally {
    ended = true
    clearTimeout(timer)
  }
}
