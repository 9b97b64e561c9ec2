import { rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isErrorCode } from '../../lib/errors.ts'
import { acquireLockFile, isLockFileHeld } from '../../lib/lock-file.ts'
import { createFolder } from '../../lib/private-files.ts'
import { CircuitBreaker } from '../../lib/retry.ts'
import { SyncReadBudget } from '../../lib/sync-read-budget.ts'
import { blobKey as parseBlobKey, isBlobKey } from '../../storage/blobs/blob-store.ts'
import type { Rendered } from '../decoder/index.ts'
import { encodeChecksummed, readChecksummed, readChecksummedSync } from './checksummed-file.ts'
import { diskBytes, evict, FOLDER_BYTES, readTotal, replaceFile, walk, writeTotal } from './eviction.ts'

/** Precision of the time of last use, which is the file's modification time. */
const USE_PRECISION_MS = 10 * 60_000
/** No writes for this long after one failed. */
const WRITE_PAUSE_MS = 10_000
/** Intervals in which to look for the work of another process: the first, and the longest. */
const POLL_MS = 10
const MAX_POLL_MS = 100
/** Share of the size limit that a sweep leaves. Processes may add up to the rest before the next one. */
const SWEPT_SHARE = 3 / 4
/** Share of the size limit that a process adds before it sweeps. */
const SWEEP_SHARE = 1 / 32
/** Share of the size limit that a file, or what is added during a sweep, may take. */
const MAX_ADDED_SHARE = 1 / 8

/** Called with errors of the disk. */
export type ObserveDisk = (operation: 'read' | 'write' | 'sweep', error: unknown) => void

export interface FolderOptions {
  /** Limit on disk usage, in bytes. */
  readonly cap: number
  /** How long to wait for the work of another process, in milliseconds. */
  readonly waitMs: number
  readonly onFault: ObserveDisk
}

/**
 * Derivatives as files, `<root>/<2 characters>/<blob key>/<name>`, so that those of an image are deleted with one folder.
 * The processes of a machine share it, and none keeps an index: the file system has names, sizes and times. Errors of the
 * disk are not the caller's: they look like an empty cache.
 */
export class DerivativeFolder {
  readonly #root: string
  readonly #options: FolderOptions
  readonly #syncReads = new SyncReadBudget()
  readonly #writes = new CircuitBreaker(1, WRITE_PAUSE_MS)
  readonly #closing = new AbortController()
  /** Bytes that this process added since the last sweep that it knows of. */
  #added = 0
  #sweptAt = 0
  #sweeping: Promise<void> | undefined
  /** Disk usage as of the last sweep by this process. */
  bytes = 0
  evicted = 0

  constructor(root: string, options: FolderOptions) {
    this.#root = root
    this.#options = options
  }

  /** Disk usage of all processes as of the last sweep of any of them, plus what this one added since. */
  async usage(): Promise<number> {
    const { bytes, sweptAt } = await readTotal(this.#totalFile)
    if (sweptAt !== this.#sweptAt) {
      this.#sweptAt = sweptAt
      this.#added = 0
    }
    return bytes + this.#added
  }

  async read(blobKey: string, name: string): Promise<Rendered | undefined> {
    const path = join(this.#folderOf(blobKey), name)
    try {
      const { image, usedAt } = await readChecksummed(path)
      if (image === undefined) await rm(path, { force: true })
      else recordUse(path, usedAt)
      return image
    } catch (error) {
      if (!isErrorCode(error, 'ENOENT')) this.#options.onFault('read', error)
      return undefined
    }
  }

  /** Reads on the event loop. Undefined if that may take long, and for everything else that `read` has to look into. */
  readSync(blobKey: string, name: string): Rendered | undefined {
    if (!this.#syncReads.hasBudget) return undefined
    const path = join(this.#folderOf(blobKey), name)
    try {
      const file = this.#syncReads.run(() => readChecksummedSync(path))
      if (file?.image !== undefined) recordUse(path, file.usedAt)
      return file?.image
    } catch {
      return undefined
    }
  }

  /** Stores an image without flushing it. After a power cut the file is whole, or is detected as damaged. */
  async write(blobKey: string, name: string, rendered: Rendered): Promise<void> {
    const { cap } = this.#options
    const content = encodeChecksummed(rendered)
    // Not worth it if it would evict much of the rest.
    if (content.byteLength > cap * MAX_ADDED_SHARE) return
    // The running sweep does not keep up. Rendering again is better than filling the disk.
    if (this.#added > cap * MAX_ADDED_SHARE) return
    const folder = this.#folderOf(blobKey)
    await this.#tryWrite(async () => {
      await inFolder(folder, () => replaceFile(join(folder, name), content))
      this.#added += diskBytes(content.byteLength) + FOLDER_BYTES
    })
    if (this.#added > cap * SWEEP_SHARE) void this.sweep()
  }

  /**
   * Announces that this process renders a derivative now, or waits for another one that does.
   * @returns the result of the other process, or a function that withdraws the announcement; neither if the wait timed
   * out or the disk fails
   */
  async claim(
    blobKey: string,
    name: string,
  ): Promise<{ readonly rendered?: Rendered; readonly release?: () => Promise<void> }> {
    const folder = this.#folderOf(blobKey)
    const path = join(folder, `${name}.claim`)
    const { signal } = this.#closing
    const deadline = performance.now() + this.#options.waitMs
    for (let pollMs = POLL_MS; performance.now() < deadline; pollMs = Math.min(MAX_POLL_MS, pollMs * 2)) {
      const lock = await this.#tryWrite(() =>
        inFolder(folder, async () => ({ release: await acquireLockFile(path) })),
      )
      if (lock === undefined) return {}
      const { release } = lock
      // It may have been written between the last read and the lock.
      const rendered = await this.read(blobKey, name)
      if (rendered !== undefined) {
        await release?.()
        return { rendered }
      }
      if (release !== undefined) return { release }
      while (!signal.aborted && performance.now() < deadline && (await isLockFileHeld(path)))
        await pause(pollMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return {}
    }
    return {}
  }

  /** Removes all derivatives of an image. @throws errors of the file system */
  async remove(blobKey: string): Promise<void> {
    // A file may be added in the meantime, hence the retries.
    await rm(this.#folderOf(blobKey), { recursive: true, force: true, maxRetries: 3, retryDelay: 10 })
  }

  /** Yields the blobs that have derivatives. */
  async *blobKeys(): AsyncGenerator<string> {
    for await (const { blobKey } of walk(this.#root, this.#closing.signal))
      if (isBlobKey(blobKey)) yield blobKey
  }

  /** Enforces the size limit. One process sweeps at a time. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) => this.#options.onFault('sweep', error))
      .finally(() => (this.#sweeping = undefined))
    return this.#sweeping
  }

  /** Ends waits and sweeps. */
  stop(): void {
    this.#closing.abort()
  }

  /** Resolves when no sweep is running. */
  async idle(): Promise<void> {
    await this.#sweeping
  }

  async #sweep(): Promise<void> {
    await createFolder(this.#root)
    this.#added = 0
    const release = await acquireLockFile(join(this.#root, 'sweep.claim'))
    if (release === undefined) return
    try {
      const limit = this.#options.cap * SWEPT_SHARE
      const { bytes, removed } = await evict(this.#root, limit, Date.now(), this.#closing.signal)
      this.bytes = bytes
      this.evicted += removed
      this.#sweptAt = Date.now()
      await writeTotal(this.#totalFile, { bytes, sweptAt: this.#sweptAt })
    } finally {
      await release()
    }
  }

  get #totalFile(): string {
    return join(this.#root, 'sweep.total')
  }

  #folderOf(blobKey: string): string {
    const key = parseBlobKey(blobKey)
    return join(this.#root, key.slice(0, 2), key)
  }

  /** Returns undefined if the write fails, or one did so recently. */
  #tryWrite<T>(work: () => Promise<T>): Promise<T | undefined> {
    return this.#writes.run(work, (error) => this.#options.onFault('write', error))
  }
}

/** Errors are ignored: a read-only folder is still readable. */
function recordUse(path: string, previous: number): void {
  if (Date.now() - previous > USE_PRECISION_MS) utimes(path, new Date(), new Date()).catch(() => {})
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
