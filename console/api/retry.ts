import { ApiError, ConnectionError } from './client.ts'
import { connection } from './connection.ts'

const NEVER = new AbortController().signal
/** Automatic retries while the service is overloaded. */
const MAX_BUSY_RETRIES = 8
const MAX_WAIT_S = 60

/**
 * Repeats `work`, which must be safe to repeat, while the connection is lost or the service is overloaded.
 * @param onWait called before each wait
 * @param maxBusyRetries automatic retries while the service is overloaded
 * @throws what `work` throws otherwise, and Stopped when the signal aborts
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  signal = NEVER,
  onWait = () => {},
  maxBusyRetries = MAX_BUSY_RETRIES,
): Promise<T> {
  let busyRetries = maxBusyRetries
  for (let failures = 0; ; failures++) {
    try {
      return await work()
    } catch (error) {
      const isLost = error instanceof ConnectionError
      const isFull = error instanceof ApiError && (error.status === 503 || error.status === 429)
      if (signal.aborted || !(isLost || (isFull && busyRetries-- > 0))) throw error
      onWait()
      if (isFull) await sleep(Math.min(MAX_WAIT_S, error.retryAfter ?? 2 ** failures) * 1_000, signal)
      else {
        // Whether it was done is unknown until an attempt is answered.
        busyRetries = MAX_BUSY_RETRIES
        await untilConnected(signal)
      }
    }
  }
}

/**
 * Repeats `work`, which must be safe to repeat, until the connection lasts for it. For gestures of the user, who
 * is informed immediately if the service is overloaded and no response was lost.
 */
export const untilAnswered = <T>(work: () => Promise<T>, onWait: () => void): Promise<T> =>
  withRetries(work, NEVER, onWait, 0)

/** @throws Stopped when the signal aborts */
function untilConnected(signal: AbortSignal): Promise<void> {
  return interruptible(signal, (resolve) => {
    const look = () => {
      if (connection.get() === 'reached') resolve()
    }
    look()
    return connection.subscribe(look)
  })
}

/** @throws Stopped when the signal aborts */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return interruptible(signal, (resolve) => {
    const timer = setTimeout(resolve, ms)
    return () => clearTimeout(timer)
  })
}

class Stopped extends Error {}

/** Resolves when the callback passed to `begin` is called. `begin` returns a function that ends the wait. */
async function interruptible(signal: AbortSignal, begin: (resolve: () => void) => () => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = () => reject(new Stopped())
  const end = begin(resolve)
  signal.addEventListener('abort', abort)
  try {
    if (signal.aborted) abort()
    await promise
  } finally {
    end()
    signal.removeEventListener('abort', abort)
  }
}
