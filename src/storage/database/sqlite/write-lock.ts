import { OverloadError } from '../../../lib/errors.ts'

/** How long a transaction waits for those of other processes. */
const WAIT_MS = 10_000
/**
 * How often a waiting transaction tries to get the write lock: SQLite does not notify. SQLite's own busy handler, which
 * ends up trying every 100 ms, never hits the gap between two transactions of a busy process.
 */
const ASK_EVERY_MS = 2
/** A process leaves others a gap between its transactions, in proportion to how long it held the lock. */
const GAP_SHARE = 0.025
const MAX_GAP_MS = 5

/** The result code, without its extension: another connection holds the lock. */
const SQLITE_BUSY = 5

/** The part of a connection that takes the lock. */
interface Executor {
  exec(text: string): void
}

/** Shares the write lock with other processes. Waiting blocks the thread, so it is for worker threads. */
export class WriteLock {
  readonly #connection: Executor
  #since = 0
  #nextAt = 0

  constructor(connection: Executor) {
    this.#connection = connection
  }

  /** @throws OverloadError if others hold the lock for too long */
  begin(): void {
    sleep(this.#nextAt - performance.now())
    untilFree(() => this.#connection.exec('BEGIN IMMEDIATE'))
    this.#since = performance.now()
  }

  /** To be called after the transaction. */
  end(): void {
    const now = performance.now()
    this.#nextAt = now + Math.min(MAX_GAP_MS, (now - this.#since) * GAP_SHARE)
  }
}

/**
 * Runs an operation as soon as no other process prevents it, and returns its result.
 * @throws OverloadError if that takes too long
 */
export function untilFree<Result>(operation: () => Result): Result {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    try {
      return operation()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() > deadline) throw new OverloadError()
      // Random, so that waiting processes do not keep in step.
      sleep(ASK_EVERY_MS * (0.25 + 0.75 * Math.random()))
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
}

const neverNotified = new Int32Array(new SharedArrayBuffer(4))

function sleep(ms: number): void {
  if (ms > 0) Atomics.wait(neverNotified, 0, 0, ms)
}
