import { readFile, rm, stat } from 'node:fs/promises'
import { createFileWith } from '../../lib/private-files.ts'

/** A claim whose holder still lives is believed for so long. */
const STALE_MS = 60_000

/** What this process holds: its own number in a file may also be that of a process before it. */
const held = new Set<string>()

/**
 * Says to all processes on this machine that somebody is at work on something, by a file that only one of them can make.
 * It ends with its holder, whatever becomes of him. Two may come to hold it in the moment in which a dead one's is
 * cleared away: it spares double work and guards nothing.
 * @returns what gives the claim up; undefined when somebody else has it
 * @throws what the file system has against the file
 */
export async function claim(path: string): Promise<(() => Promise<void>) | undefined> {
  if (held.has(path)) return undefined
  // Before the file is there: whoever reads our number in it must find it to be ours.
  held.add(path)
  const giveUp = async () => {
    held.delete(path)
    await rm(path, { force: true })
  }
  try {
    if ((await make(path)) || ((await isAbandoned(path)) && (await make(path)))) return giveUp
  } catch (error) {
    held.delete(path)
    throw error
  }
  held.delete(path)
  return undefined
}

async function make(path: string): Promise<boolean> {
  try {
    await createFileWith(path, String(process.pid))
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Clears a claim away that nobody stands behind any more. */
async function isAbandoned(path: string): Promise<boolean> {
  // With our number it is of a process before this one: in this one nobody else has it.
  if (await isClaimed(path, false)) return false
  await rm(path, { force: true })
  return true
}

/**
 * Whether somebody is at work.
 * @param isOurs whether a claim with this process's number is this process's
 */
export async function isClaimed(path: string, isOurs = held.has(path)): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > STALE_MS) return false
    const text = await readFile(path, 'latin1')
    // Just made, and not yet written.
    if (text === '') return true
    const pid = Number(text)
    return pid === process.pid ? isOurs : isAlive(pid)
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process is one all the same.
    return isCode(error, 'EPERM')
  }
}

export const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
