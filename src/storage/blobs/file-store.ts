import { randomBytes } from 'node:crypto'
import { constants, createReadStream, fstatSync } from 'node:fs'
import { link, lstat, open, opendir, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { Readable } from 'node:stream'
import {
  createFile,
  createFolder,
  makeFolder,
  readWhole,
  syncFolder,
  undefinedIfMissing,
} from '../../lib/private-files.ts'
import { BlobDamaged, blobKey, type BlobStore } from './blob-store.ts'
import { isErrorCode } from '../../lib/errors.ts'

/** What a stream of a file reads at a time. */
const STREAM_CHUNK_BYTES = 256 * 1024

/** Do not follow a link or wait for a pipe in the place of a blob. Windows has neither flag. */
const READ_BLOB = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Only the folders of blobs have names of this length. */
const FOLDER_LENGTH = 2
const QUARANTINE = 'quarantine'
const OWNER = 'owner'

/** Blobs as files, in folders named by the first two characters of the key. */
export async function openFileBlobs(root: string): Promise<BlobStore> {
  await makeFolder(root)
  const folderFor = durableFolders(root)

  // Without `join`, which scans every character for each image that is read.
  const base = join(root, sep)
  const toPath = (text: string) => {
    const key = blobKey(text)
    return `${base}${key.slice(0, FOLDER_LENGTH)}${sep}${key}`
  }

  return {
    async put(key, staged) {
      const path = toPath(key)
      await folderFor(path)
      // Content before name: a crash in between leaves a staged file, never half a blob.
      await staged.durable
      await rename(staged.path, path)
      await syncFolder(dirname(path))
    },

    async read(key, size) {
      const found = await undefinedIfMissing(() => readWhole(toPath(key), READ_BLOB))
      if (found !== undefined) assertSize(key, found.bytes.byteLength, size)
      return found?.bytes
    },

    async stream(key, start, end) {
      const handle = await undefinedIfMissing(() => open(toPath(key), READ_BLOB))
      if (handle === undefined) return undefined
      // Checked now: once a part is sent, the client cannot tell a file that ends early from a whole one.
      const { size } = fstatSync(handle.fd)
      if (size > end) return getStream(handle, start, end)
      await handle.close()
      throw new BlobDamaged(`${key} is ${size} bytes long and has no bytes ${start} to ${end}`)
    },

    async openWhole(key) {
      const handle = await undefinedIfMissing(() => open(toPath(key), READ_BLOB))
      if (handle === undefined) return undefined
      const { size } = fstatSync(handle.fd)
      return { size, body: await getStream(handle, 0, size - 1) }
    },

    async withLocalFile(key, use, _caller, size) {
      const path = toPath(key)
      const info = await undefinedIfMissing(() => lstat(path))
      if (info?.isFile() !== true) return undefined
      if (size !== undefined) assertSize(key, info.size, size)
      return use(path)
    },

    async remove(key) {
      await rm(toPath(key), { force: true })
    },

    async quarantine(key) {
      const folder = join(root, QUARANTINE)
      await makeFolder(folder)
      await undefinedIfMissing(() => rename(toPath(key), join(folder, key)))
      await syncFolder(folder)
    },

    owner: (claim) => getOwner(root, claim),

    async clearOwner() {
      await rm(join(root, OWNER), { force: true })
      await syncFolder(root)
    },

    async *keys() {
      for await (const entry of await opendir(root)) {
        if (!entry.isDirectory() || entry.name.length !== FOLDER_LENGTH) continue
        const folder = join(root, entry.name)
        for await (const file of await opendir(folder)) {
          const info = await undefinedIfMissing(() => lstat(join(folder, file.name)))
          if (info?.isFile() === true) yield { key: file.name, writtenAt: info.mtimeMs }
        }
      }
    },

    async ping() {
      await stat(root)
    },
  }
}

function assertSize(key: string, size: number, expected: number): void {
  if (size !== expected) throw new BlobDamaged(`${key} is ${size} bytes long, not ${expected}`)
}

/** Returns a function that creates the folder of a file durably, once for concurrent callers. */
function durableFolders(root: string): (path: string) => Promise<void> {
  const folders = new Map<string, Promise<void>>()

  async function make(folder: string): Promise<void> {
    await createFolder(folder)
    const info = await lstat(folder)
    if (!info.isDirectory()) throw new Error(`${folder} is not a folder: links are not followed`)
    // Even if it existed: an earlier process may have been killed between creating it and flushing the root.
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

async function getStream(handle: FileHandle, start: number, end: number): Promise<Readable> {
  if (end >= start) return createReadStream('', { fd: handle, start, end, highWaterMark: STREAM_CHUNK_BYTES })
  await handle.close()
  return Readable.from([])
}

/** Reads the owner from its file, or claims it. See `BlobStore.owner`. */
async function getOwner(root: string, claim: string | undefined): Promise<string | undefined> {
  const path = join(root, OWNER)
  const read = async () => (await undefinedIfMissing(() => readFile(path, 'utf8')))?.trim()
  const owner = await read()
  if (owner !== undefined || claim === undefined) return owner
  const written = `${path}.${randomBytes(6).toString('hex')}`
  try {
    {
      await using handle = await createFile(written)
      await handle.writeFile(`${claim}\n`)
      await handle.sync()
    }
    // Linking a complete file is atomic: one of several concurrent claims wins, and a crash leaves no half of one.
    await link(written, path).catch((error: unknown) => {
      if (!isErrorCode(error, 'EEXIST')) throw error
    })
    await syncFolder(root)
  } finally {
    await rm(written, { force: true })
  }
  return read()
}
