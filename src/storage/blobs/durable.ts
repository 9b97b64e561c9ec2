import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createFolder } from '../../lib/private-files.ts'
import { isErrorCode } from '../../lib/errors.ts'

/**
 * Flushes a folder, so that the names in it survive power loss: syncing a file does not sync the folder that names it
 * (fsync(2)). Windows cannot open folders and journals their changes.
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  await using handle = await open(path, 'r')
  await handle.sync()
}

/** Creates a folder unless it exists, and flushes its parent. */
export async function makeFolder(path: string): Promise<void> {
  const made = await createFolder(path)
  if (made !== undefined) await syncFolder(dirname(made))
}

/** Runs an operation on a file. Undefined if there is no such file, or a link in its place. */
export async function undefinedIfMissing<T>(operation: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await operation()
  } catch (error) {
    if (isErrorCode(error, 'ENOENT', 'ELOOP')) return undefined
    throw error
  }
}
