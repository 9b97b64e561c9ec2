import { randomBytes } from 'node:crypto'
import { readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileWith, createFolder } from '../../lib/private-files.ts'
import { isClaimed } from '../derivatives/claim.ts'

/** More often than a ticket of a living process is taken for abandoned (see `claim.ts`). */
const REFRESH_MS = 20_000
/** Digits of a time in milliseconds, so that names sort by time until the year 33658. */
const TIME_DIGITS = 15

/** Tickets of this process: its number in a file may also be that of a process before it. */
const held = new Set<string>()

/** A place in a line. */
export interface Ticket {
  isFirst(): Promise<boolean>
  leave(): Promise<void>
}

/**
 * Takes a place in a line that all processes of this machine share: one file for each place, named by time. Places of
 * processes that ended are cleared away by those behind them.
 */
export async function takeTicket(folder: string): Promise<Ticket> {
  await createFolder(folder)
  const time = String(Date.now()).padStart(TIME_DIGITS, '0')
  const name = `${time}-${randomBytes(6).toString('hex')}`
  const path = join(folder, name)
  held.add(path)
  const refresh = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), REFRESH_MS)
  refresh.unref()
  const leave = async () => {
    clearInterval(refresh)
    held.delete(path)
    await rm(path, { force: true }).catch(() => {})
  }
  try {
    await createFileWith(path, String(process.pid))
  } catch (error) {
    await leave()
    throw error
  }
  return {
    leave,
    async isFirst() {
      for (const other of (await readdir(folder)).sort()) {
        if (other >= name) return true
        const otherPath = join(folder, other)
        if (await isClaimed(otherPath, held.has(otherPath))) return false
        await rm(otherPath, { force: true })
      }
      return true
    },
  }
}
