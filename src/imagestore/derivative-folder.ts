import { randomBytes } from 'node:crypto'
import { opendir, rename, rm, rmdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrorCode } from '../lib/errors.ts'
import { detectFormat, mimeOf, readStructure } from '../lib/image-metadata/index.ts'
import { createFileWith, createFolder, readWhole } from '../lib/private-files.ts'
import { blobKey as parseBlobKey, isBlobKey } from '../storage/blobs/blob-store.ts'
import type { DerivedImage } from './decoder/index.ts'

const BLOCK_BYTES = 4_096
/** Precision of the time of last use, which is the file's modification time. */
const USE_PRECISION_MS = 10 * 60_000
/** Incomplete files older than this are abandoned. */
const MAX_INCOMPLETE_AGE_MS = 10 * 60_000
/** Share of the size limit that a sweep leaves. Processes may add up to the rest before the next one. */
const SWEPT_SHARE = 3 / 4
/** Share of the size limit that a process adds before it sweeps. */
const SWEEP_SHARE = 1 / 32
/** The most files that one sweep removes: their list takes memory. */
const MAX_LISTED = 500_000
/** Share of the size limit that a file, or what is added during a sweep, may take. */
const MAX_ADDED_SHARE = 1 / 8

export type ObserveDisk = (operation: 'read' | 'write' | 'sweep', error: unknown) => void

interface StoredFile {
  readonly path: string
  /** Disk usage: whole blocks, and one of the folder. */
  readonly bytes: number
  readonly usedAt: number
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

  async read(blobKey: string, name: string): Promise<DerivedImage | undefined> {
    const path = join(this.#folderOf(blobKey), name)
    try {
      const { bytes, mtimeMs } = await readWhole(path)
      const image = toImage(bytes)
      if (image === undefined) await rm(path, { force: true })
      else recordUse(path, mtimeMs)
      return image
    } catch (error) {
      if (!isErrorCode(error, 'ENOENT')) this.#onFault('read', error)
      return undefined
    }
  }

  /** Stores an image without flushing it. After a power cut the file is whole or too short. */
  async write(blobKey: string, name: string, bytes: Uint8Array): Promise<void> {
    // A large file would evict much of the rest; and if the running sweep does not keep up, rendering again is better than a full disk.
    if (Math.max(bytes.byteLength, this.#added) > this.#cap * MAX_ADDED_SHARE) return
    const folder = this.#folderOf(blobKey)
    try {
      await createFolder(folder)
      await replaceFile(join(folder, name), bytes)
      this.#added += diskBytes(bytes.byteLength)
    } catch (error) {
      // The folder may be deleted in the meantime.
      if (!isErrorCode(error, 'ENOENT')) this.#onFault('write', error)
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

  async #sweep(stop: AbortSignal): Promise<void> {
    this.#added = 0
    let total = 0
    let files: StoredFile[] = []
    const keepOldest = () => (files = files.sort((a, b) => a.usedAt - b.usedAt).slice(0, MAX_LISTED))
    for await (const file of this.#files(stop)) {
      total += file.bytes
      if (files.push(file) >= 2 * MAX_LISTED) keepOldest()
    }
    const target = total > this.#cap ? this.#cap * SWEPT_SHARE : total
    for (const { path, bytes } of keepOldest()) {
      if (total <= target || stop.aborted) break
      await rm(path, { force: true })
      total -= bytes
      this.evicted++
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
        if (name.includes('.') && now - info.mtimeMs > MAX_INCOMPLETE_AGE_MS) await rm(path, { force: true })
        else yield { path, bytes: diskBytes(info.size), usedAt: info.mtimeMs }
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

/** Returns undefined for a file that is not whole. */
function toImage(bytes: Buffer): DerivedImage | undefined {
  const format = detectFormat(bytes)
  const isWhole = format !== undefined && readStructure(format, bytes).complete
  return isWhole ? { kind: 'image', bytes, mime: mimeOf[format] } : undefined
}
