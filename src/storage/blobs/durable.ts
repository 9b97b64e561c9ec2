import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createFolder } from '../../lib/private-files.ts'

/**
 * Flushes a folder, so that the names in it survive power loss (fsync(2): syncing a file does not sync the
 * folder that names it). Windows cannot open folders and journals their changes by itself.
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes a folder and flushes its parent. */
export async function makeFolder(path: string): Promise<void> {
  const made = await createFolder(path)
  if (made !== undefined) await syncFolder(dirname(made))
}
