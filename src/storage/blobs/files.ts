import { closeSync, constants, createReadStream, fstatSync, openSync, readFileSync, readvSync } from 'node:fs'
import { lstat, open, opendir, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { createFolder } from '../../lib/private-files.ts'
import { SyncReadBudget } from '../../lib/sync-read-budget.ts'
import { orUndefined } from './absent.ts'
import type { BlobStore } from './blob-store.ts'
import { BlobDamaged } from './damaged.ts'
import { makeFolder, syncFolder } from './durable.ts'
import { blobKey } from './key.ts'
import { ownerFile, removeOwnerFile } from './owner-file.ts'

/**
 * Below this size a file is read at once on the event loop: some 20 µs from the page cache, where the three
 * trips through the thread pool cost four times as much. On a disk that is not prompt none is: see `SyncReadBudget`.
 */
const SYNC_READ_BYTES = 256 * 1024
/** Read into behind a blob: whatever comes to lie there says that the file is longer. */
const BEYOND = Buffer.alloc(1)

/** A link or a pipe in the place of a blob is not followed, and not waited for. Windows has neither flag. */
const READ_BLOB = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Blobs are in folders of two characters; nothing else has such a name. */
const QUARANTINE = 'quarantine'
const FOLDER_LENGTH = 2

/** Blobs as files, in folders named by the first two characters of the key. */
export async function openFileBlobs(root: string): Promise<BlobStore> {
  await makeFolder(root)
  const folderFor = durableFolders(root)
  const stalls = new SyncReadBudget()

  // Put together by hand: `join` looks at each letter, for each image that is read.
  const base = join(root, sep)
  const pathOf = (text: string) => {
    const key = blobKey(text)
    return `${base}${key.slice(0, FOLDER_LENGTH)}${sep}${key}`
  }

  return {
    async put(key, staged) {
      const path = pathOf(key)
      await folderFor(path)
      // Content first, then its name: a crash in between leaves a staged file, never half a blob.
      await staged.durable
      await rename(staged.path, path)
      await syncFolder(dirname(path))
    },

    async read(key, size) {
      const path = pathOf(key)
      const bytes = await orUndefined(() =>
        size <= SYNC_READ_BYTES && stalls.hasBudget
          ? stalls.run(() => readFileSync(path, { flag: READ_BLOB }))
          : readFile(path, { flag: READ_BLOB }),
      )
      if (bytes !== undefined && bytes.byteLength !== size) {
        throw new BlobDamaged(`${key} is ${bytes.byteLength} bytes long, not ${size}`)
      }
      return bytes
    },

    readAtOnce(key, target) {
      if (target.byteLength > SYNC_READ_BYTES || !stalls.hasBudget) return false
      try {
        return stalls.run(() => fill(target, pathOf(key)))
      } catch {
        return false
      }
    },

    async stream(key, start, end) {
      const handle = await orUndefined(() => open(pathOf(key), READ_BLOB))
      if (handle === undefined) return undefined
      // Asked now: once a part of it is sent, a file that ends early can no more be told from one that does not.
      const { size } = fstatSync(handle.fd)
      if (size > end) return streamOf(handle, start, end)
      await handle.close()
      throw new BlobDamaged(`${key} is ${size} bytes long and has no bytes ${start} to ${end}`)
    },

    async whole(key) {
      const handle = await orUndefined(() => open(pathOf(key), READ_BLOB))
      if (handle === undefined) return undefined
      const { size } = fstatSync(handle.fd)
      return { size, body: await streamOf(handle, 0, size - 1) }
    },

    async lend(key, use) {
      const path = pathOf(key)
      const info = await orUndefined(() => lstat(path))
      return info?.isFile() !== true ? undefined : await use(path)
    },

    async remove(key) {
      await rm(pathOf(key), { force: true })
    },

    async quarantine(key) {
      const folder = join(root, QUARANTINE)
      await makeFolder(folder)
      await orUndefined(() => rename(pathOf(key), join(folder, key)))
      await syncFolder(folder)
    },

    owner: (claim) => ownerFile(root, claim),
    disown: () => removeOwnerFile(root),

    async *keys() {
      for await (const entry of await opendir(root)) {
        if (!entry.isDirectory() || entry.name.length !== FOLDER_LENGTH) continue
        const folder = join(root, entry.name)
        for await (const file of await opendir(folder)) {
          const info = await orUndefined(() => lstat(join(folder, file.name)))
          if (info?.isFile() === true) yield { key: file.name, writtenAt: info.mtimeMs }
        }
      }
    },

    async ping() {
      await stat(root)
    },
  }
}

/** Makes sure that a file's folder is there for good, also for those who ask while it is being made. */
function durableFolders(root: string): (path: string) => Promise<void> {
  const folders = new Map<string, Promise<void>>()

  async function make(folder: string): Promise<void> {
    await createFolder(folder)
    const info = await lstat(folder)
    if (!info.isDirectory()) throw new Error(`${folder} is not a folder: links are not followed`)
    // Also when it was there: a run that was cut off may have made it and not come to flush the root.
    await syncFolder(root)
  }

  return (path) => {
    const folder = dirname(path)
    let ready = folders.get(folder)
    if (ready === undefined) {
      ready = make(folder)
      folders.set(folder, ready)
      ready.catch(() => folders.delete(folder))
    }
    return ready
  }
}

/** @returns false when the file has another size */
function fill(target: Buffer, path: string): boolean {
  const file = openSync(path, READ_BLOB)
  try {
    return readvSync(file, [target, BEYOND]) === target.byteLength
  } finally {
    closeSync(file)
  }
}

async function streamOf(handle: FileHandle, start: number, end: number): Promise<Readable> {
  if (end >= start) return createReadStream('', { fd: handle, start, end, highWaterMark: SYNC_READ_BYTES })
  await handle.close()
  return Readable.from([])
}
