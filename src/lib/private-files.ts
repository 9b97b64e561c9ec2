/**
 * Creates files and folders that only the service's user can read, whatever the umask: they hold uploads, client addresses and
 * secrets. The linter enforces that every file of the service is created here.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  createWriteStream,
  fstatSync,
  lstatSync,
  open as openCallback,
  openSync,
  read as readCallback,
  type WriteStream,
} from 'node:fs'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { isErrorCode } from './errors.ts'

const openFile = promisify(openCallback)
const read = promisify(readCallback)

const CHUNK_BYTES = 1024 * 1024
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const OPEN_TO_OTHERS = 0o077

/** Creates a folder and its missing parents. @returns the first one that was created */
export function createFolder(path: string): Promise<string | undefined> {
  return mkdir(path, { recursive: true, mode: FOLDER_MODE })
}

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

/** Creates a file and opens it for writing. Rejects with EEXIST if the path exists, even as a link. */
export function createFile(path: string): Promise<FileHandle> {
  return open(path, 'wx', FILE_MODE)
}

/** The same as a stream. */
export function createFileStream(path: string): WriteStream {
  return createWriteStream(path, { flags: 'wx', mode: FILE_MODE })
}

/** Creates a file with this content. Rejects with EEXIST if the path exists. */
export async function createFileWith(path: string, content: string | Uint8Array): Promise<void> {
  await using file = await createFile(path)
  await file.writeFile(content)
}

/** Creates an empty file unless it exists, for libraries that would create it with another mode. */
export function ensureFileSync(path: string): void {
  closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT, FILE_MODE))
}

/** Fills a file with this many incompressible bytes. Leaves it empty if the disk has no room for all of them. */
export async function fillFile(path: string, bytes: number): Promise<void> {
  const chunk = randomBytes(Math.min(bytes, CHUNK_BYTES))
  await using file = await open(path, constants.O_WRONLY | constants.O_CREAT, FILE_MODE)
  try {
    for (let left = bytes; left > 0; left -= chunk.byteLength) {
      await file.writeFile(chunk.subarray(0, left))
    }
  } catch (error) {
    await file.truncate(0)
    throw error
  }
}

/**
 * Reads a whole file. `readFile` makes four calls of the thread pool, each of which takes longer than reading 20 KB; this makes two
 * for a local file.
 */
export async function readWhole(
  path: string,
  flags: string | number = 'r',
): Promise<{ readonly bytes: Buffer; readonly mtimeMs: number }> {
  const file = await openFile(path, flags)
  try {
    const { size, mtimeMs } = fstatSync(file)
    const bytes = Buffer.allocUnsafeSlow(size)
    let end = 0
    // A file system may return less than it was asked for.
    while (end < size) {
      const { bytesRead } = await read(file, bytes, end, size - end, end)
      if (bytesRead === 0) break
      end += bytesRead
    }
    return { bytes: bytes.subarray(0, end), mtimeMs }
  } finally {
    closeSync(file)
  }
}

/** Whether the group or others may read, write or enter a file or folder. */
export function isOpenToOthers(path: string): boolean {
  // Windows has access lists instead of modes.
  return process.platform !== 'win32' && (lstatSync(path).mode & OPEN_TO_OTHERS) !== 0
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
