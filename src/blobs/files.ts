import { createReadStream, readFileSync } from 'node:fs'
import { open, opendir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { BlobStore } from './blob-store.ts'
import { makeFolder, syncFolder } from './durable.ts'

/**
 * Below this size a file is read at once on the event loop: some 20 µs from the page cache, where the three
 * trips through the thread pool cost four times as much.
 */
const SYNC_READ_BYTES = 256 * 1024

/** Blobs as files, in folders named by the first two characters of the key. */
export async function openFileBlobs(root: string): Promise<BlobStore> {
  await makeFolder(root)
  const folders = new Set<string>()

  const pathOf = (key: string) => join(root, key.slice(0, 2), key)

  async function folderOf(path: string): Promise<string> {
    const folder = dirname(path)
    if (!folders.has(folder)) {
      await makeFolder(folder)
      folders.add(folder)
    }
    return folder
  }

  return {
    async put(key, staged) {
      const path = pathOf(key)
      const folder = await folderOf(path)
      // Content first, then its name: a crash in between leaves a staged file, never half a blob.
      await staged.durable
      await rename(staged.path, path)
      await syncFolder(folder)
    },

    async read(key, size) {
      const path = pathOf(key)
      return orUndefined(() => (size <= SYNC_READ_BYTES ? readFileSync(path) : readFile(path)))
    },

    async stream(key, start, end) {
      const handle = await orUndefined(() => open(pathOf(key), 'r'))
      if (handle === undefined) return undefined
      if (end < start) {
        await handle.close()
        return Readable.from([])
      }
      return createReadStream('', { fd: handle, start, end, highWaterMark: SYNC_READ_BYTES })
    },

    async lend(key, use) {
      const path = pathOf(key)
      const info = await orUndefined(() => stat(path))
      return info === undefined ? undefined : await use(path)
    },

    async remove(key) {
      await rm(pathOf(key), { force: true })
    },

    async *keys() {
      for await (const entry of await opendir(root)) {
        if (!entry.isDirectory()) continue
        const folder = join(root, entry.name)
        for await (const file of await opendir(folder)) {
          const info = await orUndefined(() => stat(join(folder, file.name)))
          if (info?.isFile() === true) yield { key: file.name, writtenAt: info.mtimeMs }
        }
      }
    },

    async ping() {
      await stat(root)
    },
  }
}

async function orUndefined<T>(operation: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await operation()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
