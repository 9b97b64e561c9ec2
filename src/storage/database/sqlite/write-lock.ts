import { OverloadError } from '../../../lib/errors.ts'
import type { Connection } from './connection.ts'

/** How long a transaction waits for those of other processes. */
const WAIT_MS = 10_000
/**
 * SQLite wakes nobody: who waits for the write lock asks again and again. Its own way of asking, every 100 ms in the end,
 * never meets the moment between two transactions of a process that has many in line.
 */
const ASK_EVERY_MS = 2
/** So a process leaves others a gap that they meet, in proportion to how long it held the lock. */
const GAP_SHARE = 0.025
const MAX_GAP_MS = 5

/** The result code, without its extension: somebody else holds the lock. */
const SQLITE_BUSY = 5

/** Takes turns with other processes at writing. For threads of their own: waiting holds the thread. */
export class WriteLock {
  readonly #connection: Connection
  #since = 0
  #nextAt = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** @throws OverloadError when the others do not give way in time */
  begin(): void {
    sleep(this.#nextAt - performance.now())
    untilFree(() => this.#connection.exec('BEGIN IMMEDIATE'))
    this.#since = performance.now()
  }

  /** The transaction is over. */
  end(): void {
    const now = performance.now()
    this.#nextAt = now + Math.min(MAX_GAP_MS, (now - this.#since) * GAP_SHARE)
  }
}

/**
 * Does what other processes may stand in the way of, as soon as they do not.
 * @throws OverloadError when they do for too long
 */
export function untilFree(operation: () => void): void {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    try {
      return operation()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() > deadline) throw new OverloadError()
      // Not in step with others that wait.
      sleep(ASK_EVERY_MS * (0.25 + 0.75 * Math.random()))
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY
}

const nobody = new Int32Array(new SharedArrayBuffer(4))

function sleep(ms: number): void {
  if (ms > 0) Atomics.wait(nobody, 0, 0, ms)
}
