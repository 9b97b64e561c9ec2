import { readFile, rm, stat } from 'node:fs/promises'
import { createFileWith } from './private-files.ts'
import { isErrorCode } from './errors.ts'

/** A lock older than this is abandoned, even if its process is alive. */
const MAX_AGE_MS = 60_000

/** Files that this process holds. A file with our process id may also be that of an earlier process with the same id. */
const held = new Set<string>()

/**
 * Creates a file with this process's id, which counts as held until it is deleted.
 * @returns a function that deletes it
 * @throws errors of the file system, EEXIST included
 */
export async function createOwnedFile(path: string): Promise<() => Promise<void>> {
  // Before the file exists, so that a reader of our id always finds it to be ours.
  held.add(path)
  try {
    await createFileWith(path, String(process.pid))
  } catch (error) {
    held.delete(path)
    throw error
  }
  return () => deleteOwnedFile(path)
}

async function deleteOwnedFile(path: string): Promise<void> {
  held.delete(path)
  await rm(path, { force: true })
}

/**
 * Acquires an advisory lock among the processes of this machine. It ends with its process. When an abandoned lock is
 * cleared, two processes may acquire it at the same moment, so it saves duplicate work but does not protect data.
 * @returns a function that releases it; undefined if another holder has it
 * @throws errors of the file system
 */
export async function acquireLockFile(path: string): Promise<(() => Promise<void>) | undefined> {
  if (held.has(path)) return undefined
  held.add(path)
  let isAcquired = false
  try {
    isAcquired = await createUnlessExists(path)
    // A file with our id is from an earlier process: nothing else in this process holds the lock.
    if (!isAcquired && !(await isHeld(path, false))) {
      await rm(path, { force: true })
      isAcquired = await createUnlessExists(path)
    }
  } finally {
    if (!isAcquired) held.delete(path)
  }
  return isAcquired ? () => deleteOwnedFile(path) : undefined
}

async function createUnlessExists(path: string): Promise<boolean> {
  try {
    await createFileWith(path, String(process.pid))
    return true
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return false
    throw error
  }
}

/** True if the lock exists, is not too old and its process is alive. */
export const isLockFileHeld = (path: string): Promise<boolean> => isHeld(path, held.has(path))

/** @param isOurs whether a file with our process id is this process's */
async function isHeld(path: string, isOurs: boolean): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > MAX_AGE_MS) return false
    const text = await readFile(path, 'latin1')
    // Just created, and not yet written.
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
    // The process exists and belongs to another user.
    return isErrorCode(error, 'EPERM')
  }
}
