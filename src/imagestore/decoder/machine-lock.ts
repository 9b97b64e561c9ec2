import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { acquireLockFile, createOwnedFile, isLockFileHeld } from '../../lib/lock-file.ts'
import { createFolder } from '../../lib/private-files.ts'

/** Resolves to a function that ends the turn, or to undefined if `signal` aborts first. Never rejects. */
export type AcquireMachineLock = (signal: AbortSignal) => Promise<(() => Promise<void>) | undefined>

/** Interval of attempts. A job that needs a turn takes a second or more. */
const ATTEMPT_MS = 50
/** Digits of a time in milliseconds, so that names sort by time until the year 33658. */
const TIME_DIGITS = 15

/**
 * Turns that the processes of this machine take one at a time, in order of arrival: a lock file, and a folder of tickets in
 * front of it, without which a busy process could overtake another one again and again. Without a writable folder nobody
 * waits.
 */
export function machineLock(folder: string): AcquireMachineLock {
  const lock = join(folder, 'heavy')
  const tickets = join(folder, 'turns')
  return async (signal) => {
    const ticket = await takeTicket(tickets).catch(() => undefined)
    try {
      while (!signal.aborted) {
        // If the tickets cannot be read, the lock still admits one process at a time, in any order.
        const isNext = (await ticket?.isFirst().catch(() => true)) ?? true
        const release = isNext ? await acquireLockFile(lock).catch(() => async () => {}) : undefined
        if (release !== undefined) return () => release().catch(() => undefined)
        await pause(ATTEMPT_MS)
      }
      return undefined
    } finally {
      await ticket?.discard()
    }
  }
}

/**
 * Creates a file whose name sorts by time. Tickets of processes that ended are removed by those behind them. A ticket older
 * than a lock file may be loses its place, which costs the order and nothing else.
 */
async function takeTicket(folder: string) {
  await createFolder(folder)
  const time = String(Date.now()).padStart(TIME_DIGITS, '0')
  const name = `${time}-${randomBytes(6).toString('hex')}`
  const discard = await createOwnedFile(join(folder, name))
  return {
    discard: () => discard().catch(() => {}),
    async isFirst(): Promise<boolean> {
      for (const other of (await readdir(folder)).sort()) {
        if (other >= name) return true
        if (await isLockFileHeld(join(folder, other))) return false
        await rm(join(folder, other), { force: true })
      }
      return true
    },
  }
}
