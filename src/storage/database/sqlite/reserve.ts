import { renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fillFile } from '../../../lib/private-files.ts'

/** Twice what the log grows to before it is moved into the file (`LOG_PAGES`), which may grow by as much meanwhile. */
const MAX_BYTES = 8 * 1024 * 1024
/** It takes no more than this part of a small disk. */
const PART_OF_DISK = 1 / 16
const RETRY_MS = 1_000

/**
 * Room on the disk for deletions. Every commit of SQLite takes room first, one that deletes too, so on a full disk nothing could
 * be deleted to make room. A file holds some: it is emptied when a deletion finds the disk full, and from then on only deletions
 * may write, until there is room for it again. Processes that share the database share the file.
 */
export class Reserve {
  readonly #path: string
  #triedAt = -Infinity
  #restoring: Promise<void> | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Whether its room was given away and is not back. A disk that never had room for it counts as one that has. */
  get isReleased(): boolean {
    return this.#size === 0
  }

  get #size(): number | undefined {
    return statSync(this.#path, { throwIfNoEntry: false })?.size
  }

  /** Gives its room away. @returns false if it has none */
  release(): boolean {
    if ((this.#size ?? 0) === 0) return false
    truncateSync(this.#path, 0)
    return true
  }

  /** Takes its room if that is free, twice over. Tries at most once a second; concurrent calls share one attempt. */
  restore(): Promise<void> {
    this.#restoring ??= this.#restore().finally(() => (this.#restoring = undefined))
    return this.#restoring
  }

  async #restore(): Promise<void> {
    const now = performance.now()
    if (now - this.#triedAt < RETRY_MS) return
    this.#triedAt = now
    // Of this process alone, and renamed when it is whole: an empty file would say that the room was given away.
    const filling = `${this.#path}.${process.pid}`
    try {
      if ((this.#size ?? 0) > 0) return
      const { bavail, blocks, bsize } = await statfs(dirname(this.#path))
      const bytes = Math.min(MAX_BYTES, Math.floor(blocks * bsize * PART_OF_DISK))
      if (bavail * bsize < 2 * bytes) return
      await fillFile(filling, bytes)
      renameSync(filling, this.#path)
    } catch {
      // Without it everything goes on as on a disk that never had room for it.
      rmSync(filling, { force: true })
    }
  }
}
