import { randomBytes } from 'node:crypto'
import { rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { blobKey as parsedKey, isBlobKey } from '../../storage/blobs/blob-store.ts'
import { createFileWith, createFolder } from '../../lib/private-files.ts'
import { SyncReadBudget } from '../../lib/sync-read-budget.ts'
import { claim, isClaimed, isCode } from './claim.ts'
import { evict } from './eviction.ts'
import { readSealed, sealedAtOnce, sealedFile, type AtHand, type Lend } from './reading.ts'
import { seal, unseal, type Rendered } from './sealed.ts'
import { SweptTotal } from './total.ts'
import { FOLDER_BYTES, onDisk, walk } from './walk.ts'

/** When a file was last used is written down anew after so long: eviction needs no more. */
const USED_AGAIN_MS = 10 * 60_000
/** After a failed write none is tried for so long. */
const PAUSE_MS = 10_000
/** Those who wait for another process look for its work at first this often, later more seldom. */
const LOOK_MS = 10
const MAX_LOOK_MS = 100

/** Told of what the disk refuses. */
export type ObserveDisk = (operation: 'read' | 'write' | 'sweep', error: unknown) => void

export interface FolderOptions {
  /** Bytes of the disk that it may take. */
  readonly cap: number
  /** How long the work of another process is waited for. Milliseconds. */
  readonly waitMs: number
  readonly onFault: ObserveDisk
}

/**
 * Derivatives as files, `<root>/<2 characters>/<blob key>/<name>`, so that an image's go with one folder. Several processes
 * of one machine share it and none keeps an index: what there is, how large and how old, the file system knows.
 * A fault of the disk is never the caller's: it is as if nothing had been kept.
 */
export class DerivativeFolder {
  readonly #root: string
  readonly #options: FolderOptions
  /** Bytes that this process added since it last looked at the whole. */
  #added = 0
  #pausedUntil = -Infinity
  #sweeping: Promise<void> | undefined
  readonly #closing = new AbortController()
  readonly #total: SweptTotal
  readonly #stalls = new SyncReadBudget()
  /** Bytes of the disk, as of the last sweep by this process. */
  bytes = 0
  evicted = 0

  constructor(root: string, options: FolderOptions) {
    this.#root = root
    this.#options = options
    this.#total = new SweptTotal(join(root, 'sweep.total'))
  }

  /** Bytes of the disk that all processes' derivatives take, as of the last sweep and with what this one added since. */
  usage(): Promise<number> {
    return this.#total.bytes()
  }

  async read(blobKey: string, name: string): Promise<Rendered | undefined> {
    const path = join(this.#folderOf(blobKey), name)
    try {
      const atOnce = this.#stalls.hasBudget ? this.#stalls.run(() => sealedAtOnce(path)) : undefined
      const { sealed, usedAt } = atOnce ?? (await sealedFile(path))
      const rendered = unseal(sealed)
      if (rendered === undefined) await rm(path, { force: true })
      else noteUse(path, usedAt)
      return rendered
    } catch (error) {
      if (!isCode(error, 'ENOENT')) this.#options.onFault('read', error)
      return undefined
    }
  }

  /** The same where it need not be waited for; undefined also for whatever `read` has to look into. */
  readSync(blobKey: string, name: string, lend: Lend): AtHand | undefined {
    if (!this.#stalls.hasBudget) return undefined
    const path = join(this.#folderOf(blobKey), name)
    try {
      return this.#stalls.run(() => readSealed(path, lend, (at) => noteUse(path, at)))
    } catch {
      return undefined
    }
  }

  /** Keeps an image. Nothing flushes it: after a power cut it is there, or is found to be torn and made anew. */
  async write(blobKey: string, name: string, rendered: Rendered): Promise<void> {
    const sealed = seal(rendered)
    // What would push out a good part of the rest is not worth its place.
    if (sealed.byteLength > this.#options.cap / 8) return
    // The sweep that is under way does not keep up: better to make some anew than to fill the disk.
    if (this.#added > this.#options.cap / 8) return
    const folder = this.#folderOf(blobKey)
    const fresh = join(folder, `${name}.${randomBytes(6).toString('hex')}`)
    await this.#attempt(async () => {
      try {
        await inFolder(folder, () => createFileWith(fresh, sealed))
        await rename(fresh, join(folder, name))
      } catch (error) {
        await rm(fresh, { force: true }).catch(() => {})
        throw error
      }
      const added = onDisk(sealed.byteLength) + FOLDER_BYTES
      this.#added += added
      this.#total.add(added)
    })
    // Eight processes that each add this much before they look stay within what a sweep leaves free.
    if (this.#added > this.#options.cap / 32) void this.sweep()
  }

  /**
   * Says that this process makes something now. When another one does already, waits for it.
   * @returns its work, or what ends the claim; neither when the wait was too long, or the disk refuses
   */
  async claim(
    blobKey: string,
    name: string,
  ): Promise<{ readonly rendered?: Rendered; readonly release?: () => Promise<void> }> {
    const folder = this.#folderOf(blobKey)
    const path = join(folder, `${name}.claim`)
    const end = performance.now() + this.#options.waitMs
    for (let lookMs = LOOK_MS; performance.now() < end; lookMs = Math.min(MAX_LOOK_MS, lookMs * 2)) {
      const release = await this.#attempt(async () =>
        inFolder(folder, async () => ({ end: await claim(path) })),
      )
      if (release === undefined) return {}
      // It may have been made between the look and the claim.
      const rendered = await this.read(blobKey, name)
      if (rendered !== undefined) {
        await release.end?.()
        return { rendered }
      }
      if (release.end !== undefined) return { release: release.end }
      while (performance.now() < end && (await isClaimed(path))) await pause(lookMs, this.#closing.signal)
      if (this.#closing.signal.aborted) return {}
    }
    return {}
  }

  /** Removes all that was made of an image. @throws what the file system has against it */
  async remove(blobKey: string): Promise<void> {
    // Something may come in while it goes.
    await rm(this.#folderOf(blobKey), { recursive: true, force: true, maxRetries: 3, retryDelay: 10 })
  }

  /** The blobs of which something is kept. */
  async *blobKeys(signal: AbortSignal): AsyncGenerator<string> {
    for await (const { blobKey } of walk(this.#root, signal)) {
      if (isBlobKey(blobKey)) yield blobKey
    }
  }

  /** Keeps within the cap, once at a time among all processes. */
  sweep(signal: AbortSignal = this.#closing.signal): Promise<void> {
    this.#sweeping ??= this.#sweep(signal)
      .catch((error: unknown) => this.#options.onFault('sweep', error))
      .finally(() => (this.#sweeping = undefined))
    return this.#sweeping
  }

  /** Ends waits and sweeps. */
  stop(): void {
    this.#closing.abort()
  }

  async idle(): Promise<void> {
    await this.#sweeping
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const { cap } = this.#options
    await createFolder(this.#root)
    this.#added = 0
    const counted = this.#total.added
    const release = await claim(join(this.#root, 'sweep.claim'))
    if (release === undefined) return
    try {
      // From three quarters on the processes may add, each a little, before somebody looks again.
      const low = cap * 0.75
      const { bytes, removed } = await evict(this.#root, low, low, Date.now(), signal)
      this.bytes = bytes
      this.evicted += removed
      await this.#total.note(bytes, Date.now(), counted)
    } finally {
      await release()
    }
  }

  #folderOf(blobKey: string): string {
    const key = parsedKey(blobKey)
    return join(this.#root, key.slice(0, 2), key)
  }

  /** Undefined when the disk refuses, or did so a moment ago. */
  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (performance.now() < this.#pausedUntil) return undefined
    try {
      return await work()
    } catch (error) {
      this.#pausedUntil = performance.now() + PAUSE_MS
      this.#options.onFault('write', error)
      return undefined
    }
  }
}

/** A folder that cannot be written can be read all the same. */
function noteUse(path: string, before: number): void {
  if (Date.now() - before > USED_AGAIN_MS) utimes(path, new Date(), new Date()).catch(() => {})
}

/** Does something in a folder that may not be there yet, or go away meanwhile. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt > 3 || !isCode(error, 'ENOENT')) throw error
      await createFolder(folder)
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end, { once: true })
  })
}
