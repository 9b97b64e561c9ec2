import { randomBytes } from 'node:crypto'
import { opendir, rename, rm, rmdir, stat, utimes, open } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrorCode } from '../lib/errors.ts'
import { createFileWith, createFolder } from '../lib/private-files.ts'
import { blobKey as parseBlobKey, isBlobKey } from '../storage/blobs/blob-store.ts'
import type { Rendered } from './decoder/index.ts'
import { crc32 } from 'node:zlib'

const BLOCK_BYTES = 4_096
/** Precision of the time of last use, which is the file's modification time. */
const USE_PRECISION_MS = 10 * 60_000
/** Incomplete files older than this are abandoned. */
const MAX_INCOMPLETE_AGE_MS = 10 * 60_000
/** No writes for this long after one failed. */
const WRITE_PAUSE_MS = 10_000
/** Share of the size limit that a sweep leaves. Processes may add up to the rest before the next one. */
const SWEPT_SHARE = 3 / 4
/** Share of the size limit that a process adds before it sweeps. */
const SWEEP_SHARE = 1 / 32
/** Share of the size limit that a file, or what is added during a sweep, may take. */
const MAX_ADDED_SHARE = 1 / 8

export type ObserveDisk = (operation: 'read' | 'write' | 'sweep', error: unknown) => void

interface StoredFile {
  readonly path: string
  /** Disk usage: whole blocks, and one of the folder. */
  readonly bytes: number
  /** Class of its age since the last use. */
  readonly age: number
}

const diskBytes = (bytes: number): number => (Math.ceil(bytes / BLOCK_BYTES) + 1) * BLOCK_BYTES

/**
 * Derivatives as files, `<root>/<2 characters>/<blob key>/<name>`, so that those of an image are deleted with one folder.
 * The processes of a machine share it, and none keeps an index: the file system has names, sizes and times. Errors of the
 * disk are not the caller's: they look like an empty cache.
 */
export class DerivativeFolder {
  readonly #root: string
  readonly #cap: number
  readonly #onFault: ObserveDisk
  #writesPausedUntil = -Infinity
  readonly #closing = new AbortController()
  #swept = 0
  #added = 0
  #sweeping: Promise<void> | undefined
  evicted = 0

  /** @param cap limit on disk usage, in bytes */
  constructor(root: string, cap: number, onFault: ObserveDisk) {
    this.#root = root
    this.#cap = cap
    this.#onFault = onFault
  }

  /** Disk usage as of the last sweep by this process, with what it added since. */
  get bytes(): number {
    return this.#swept + this.#added
  }

  async read(blobKey: string, name: string): Promise<Rendered | undefined> {
    const path = join(this.#folderOf(blobKey), name)
    try {
      await using file = await open(path, 'r')
      const { mtimeMs } = await file.stat()
      const image = decodeChecksummed(await file.readFile())
      if (image === undefined) await rm(path, { force: true })
      else recordUse(path, mtimeMs)
      return image
    } catch (error) {
      if (!isErrorCode(error, 'ENOENT')) this.#onFault('read', error)
      return undefined
    }
  }

  /** Stores an image without flushing it. After a power cut the file is whole, or is detected as damaged. */
  async write(blobKey: string, name: string, rendered: Rendered): Promise<void> {
    const content = encodeChecksummed(rendered)
    // A large file would evict much of the rest; and if the running sweep does not keep up, rendering again is better than a full disk.
    if (Math.max(content.byteLength, this.#added) > this.#cap * MAX_ADDED_SHARE) return
    if (performance.now() < this.#writesPausedUntil) return
    const folder = this.#folderOf(blobKey)
    try {
      await inFolder(folder, () => replaceFile(join(folder, name), content))
      this.#added += diskBytes(content.byteLength)
    } catch (error) {
      this.#writesPausedUntil = performance.now() + WRITE_PAUSE_MS
      this.#onFault('write', error)
    }
    if (this.#added > this.#cap * SWEEP_SHARE) void this.sweep(this.#closing.signal)
  }

  /** Removes all derivatives of an image. @throws errors of the file system */
  async remove(blobKey: string): Promise<void> {
    // A file may be added in the meantime, hence the retries.
    await rm(this.#folderOf(blobKey), { recursive: true, force: true, maxRetries: 3, retryDelay: 10 })
  }

  /** Yields the blobs that have derivatives. */
  async *blobKeys(stop: AbortSignal): AsyncGenerator<string> {
    for await (const { blobKey } of this.#blobFolders(stop)) if (isBlobKey(blobKey)) yield blobKey
  }

  /** Enforces the size limit: removes the least recently used files. Several processes may do so at the same time. */
  sweep(stop: AbortSignal): Promise<void> {
    this.#sweeping ??= this.#sweep(AbortSignal.any([this.#closing.signal, stop]))
      .catch((error: unknown) => this.#onFault('sweep', error))
      .finally(() => (this.#sweeping = undefined))
    return this.#sweeping
  }

  /** Ends sweeps at their next step, and resolves when none is running. */
  async stop(): Promise<void> {
    this.#closing.abort()
    await this.#sweeping
  }

  /** Walks twice, counting by age and then removing, instead of keeping a list: memory is small for any number of files. */
  async #sweep(stop: AbortSignal): Promise<void> {
    this.#added = 0
    const bytesByAge = new Map<number, number>()
    let total = 0
    for await (const { bytes, age } of this.#files(stop)) {
      bytesByAge.set(age, (bytesByAge.get(age) ?? 0) + bytes)
      total += bytes
    }
    if (total > this.#cap && !stop.aborted) {
      let excess = total - this.#cap * SWEPT_SHARE
      let cut = Infinity
      for (const [age, bytes] of [...bytesByAge].sort(([one], [other]) => other - one)) {
        cut = age
        if (bytes >= excess) break
        excess -= bytes
      }
      for await (const { path, bytes, age } of this.#files(stop)) {
        // The youngest class that is affected loses only as much as necessary.
        if (age < cut || (age === cut && excess <= 0)) continue
        if (age === cut) excess -= bytes
        total -= bytes
        await rm(path, { force: true })
        this.evicted++
      }
    }
    this.#swept = total
  }

  /** All derivatives. Removes incomplete files and empty folders, and skips what disappears in the meantime. */
  async *#files(stop: AbortSignal): AsyncGenerator<StoredFile> {
    const now = Date.now()
    for await (const { path: folder } of this.#blobFolders(stop)) {
      for await (const { name } of await opendir(folder).catch(() => [])) {
        if (stop.aborted) return
        const path = join(folder, name)
        const info = await stat(path).catch(() => undefined)
        if (info?.isFile() !== true) continue
        const ageMs = Math.max(0, now - info.mtimeMs)
        if (name.includes('.') && ageMs > MAX_INCOMPLETE_AGE_MS) await rm(path, { force: true })
        else yield { path, bytes: diskBytes(info.size), age: toAgeClass(ageMs) }
      }
      // Fails, as it should, unless the folder is empty.
      await rmdir(folder).catch(() => {})
    }
  }

  async *#blobFolders(
    stop: AbortSignal,
  ): AsyncGenerator<{ readonly blobKey: string; readonly path: string }> {
    for await (const group of foldersIn(this.#root)) {
      for await (const blobKey of foldersIn(join(this.#root, group))) {
        if (stop.aborted) return
        yield { blobKey, path: join(this.#root, group, blobKey) }
      }
    }
  }

  #folderOf(blobKey: string): string {
    const key = parseBlobKey(blobKey)
    return join(this.#root, key.slice(0, 2), key)
  }
}

async function* foldersIn(path: string): AsyncGenerator<string> {
  for await (const entry of await opendir(path).catch(() => [])) if (entry.isDirectory()) yield entry.name
}

/** Errors are ignored: a read-only folder is still readable. */
function recordUse(path: string, previous: number): void {
  if (Date.now() - previous > USE_PRECISION_MS) utimes(path, new Date(), new Date()).catch(() => {})
}

/** Writes a file under its name when all of it is written. Does not flush it. */
async function replaceFile(path: string, content: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await createFileWith(temporary, content)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

/** Runs `work` in a folder that may not exist yet, or be deleted in the meantime. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt > 3 || !isErrorCode(error, 'ENOENT')) throw error
      await createFolder(folder)
    }
  }
}

/** Ages within a class, whose files are evicted in any order, differ by 0.3 % at most. */
const CLASSES_PER_DOUBLING = 256
const toAgeClass = (ageMs: number): number => Math.floor(Math.log2(1 + ageMs / 1_000) * CLASSES_PER_DOUBLING)

/** Identifies the format of the file. A different format gets a different signature. */
const SIGNATURE = 'CTD1'
/** Signature, checksum of everything after it, size of the image, media type padded with zeros. */
const HEADER_BYTES = 32
const CHECKSUM_AT = 4
const SIZE_AT = 8
const MIME_AT = 12

/**
 * Adds a header with a checksum. Files are not flushed, so after a power cut one may be empty, cut, or as long as it was
 * and full of zeros. The checksum detects that within microseconds.
 */
export function encodeChecksummed({ bytes, mime }: Rendered): Buffer {
  const file = Buffer.alloc(HEADER_BYTES + bytes.byteLength)
  if (mime.length > HEADER_BYTES - MIME_AT) throw new Error(`the media type ${mime} is too long`)
  file.write(SIGNATURE, 'latin1')
  file.writeUInt32LE(bytes.byteLength, SIZE_AT)
  file.write(mime, MIME_AT, 'latin1')
  file.set(bytes, HEADER_BYTES)
  file.writeUInt32LE(crc32(file.subarray(SIZE_AT)), CHECKSUM_AT)
  return file
}

/** Returns undefined if a single bit is wrong. */
export function decodeChecksummed(file: Buffer): Rendered | undefined {
  if (file.byteLength < HEADER_BYTES || file.toString('latin1', 0, CHECKSUM_AT) !== SIGNATURE)
    return undefined
  if (file.readUInt32LE(SIZE_AT) !== file.byteLength - HEADER_BYTES) return undefined
  if (crc32(file.subarray(SIZE_AT)) !== file.readUInt32LE(CHECKSUM_AT)) return undefined
  const mime = file.toString('latin1', MIME_AT, HEADER_BYTES).replace(/\0+$/, '')
  return { bytes: file.subarray(HEADER_BYTES), mime }
}
