import { createReadStream, readFileSync } from 'node:fs'
import { mkdir, open, opendir, readFile, rename, rm, stat } from 'node:fs/promises'
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
  const folders = new Map<string, Promise<void>>()

  const pathOf = (key: string) => join(root, key.slice(0, 2), key)

  /** Makes sure that a folder is there for good, also for those who ask while it is being made. */
  function folderFor(path: string): Promise<void> {
    const folder = dirname(path)
    let ready = folders.get(folder)
    if (ready === undefined) {
      ready = makeDurable(folder)
      folders.set(folder, ready)
      ready.catch(() => folders.delete(folder))
    }
    return ready
  }

  async function makeDurable(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true })
    // Also when it was there: a run that was cut off may have made it and not come to flush the root.
    await syncFolder(root)
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
