import { renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fillFile } from '../../../lib/private-files.ts'

/** Twice the size at which SQLite moves the log into the file (1,000 pages), which may grow by as much meanwhile. */
const MAX_BYTES = 8 * 1024 * 1024
/** The largest share of a small disk. */
const PART_OF_DISK = 1 / 16
const RETRY_MS = 1_000

/**
 * Disk space for deletions. Every commit of SQLite first needs space, deletions included, so on a full disk nothing
 * could be deleted. A file reserves some: it is truncated when a deletion finds the disk full, and from then on only
 * deletions may write until it can be filled again. Processes that share the database share the file.
 */
export class Reserve {
  readonly #path: string
  #triedAt = -Infinity
  #restoring: Promise<void> | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Whether the space was released and not restored. A disk that never had room for it counts as restored. */
  get isReleased(): boolean {
    return this.#size === 0
  }

  get #size(): number | undefined {
    return statSync(this.#path, { throwIfNoEntry: false })?.size
  }

  /** Releases the space. Returns false if there is none. */
  release(): boolean {
    if ((this.#size ?? 0) === 0) return false
    truncateSync(this.#path, 0)
    return true
  }

  /** Reserves the space again if the disk has twice as much. Concurrent calls share one attempt. */
  restore(): Promise<void> {
    this.#restoring ??= this.#restore().finally(() => (this.#restoring = undefined))
    return this.#restoring
  }

  async #restore(): Promise<void> {
    const now = performance.now()
    if (now - this.#triedAt < RETRY_MS) return
    this.#triedAt = now
    // One file per process, renamed when complete: an empty file would mean that the space was released.
    const filling = `${this.#path}.${process.pid}`
    try {
      if ((this.#size ?? 0) > 0) return
      const { bavail, blocks, bsize } = await statfs(dirname(this.#path))
      const bytes = Math.min(MAX_BYTES, Math.floor(blocks * bsize * PART_OF_DISK))
      if (bavail * bsize < 2 * bytes) return
      await fillFile(filling, bytes)
      renameSync(filling, this.#path)
    } catch {
      // Without a reserve the service works as on a disk that never had room for it.
      rmSync(filling, { force: true })
    }
  }
}
