import { randomBytes } from 'node:crypto'
import { readdir, rm, stat, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { isDiskError } from '../../lib/errors.ts'
import { createFile, makeFolder } from '../../lib/private-files.ts'

/** A local file of an upload in progress. Disposing of it removes the file unless it has become a blob. */
export interface StagedFile extends AsyncDisposable {
  readonly path: string
  readonly size: number
  /** Resolves when the bytes are on stable storage, if staging flushes. The flush runs in parallel with other work. */
  readonly durable: Promise<void>
}

interface StagingOptions {
  /** False if files never become blobs themselves, so that they need not be durable. */
  readonly flush?: boolean
  /** Called when the disk fails a write or a flush. */
  readonly onFault?: (fault: Error) => void
}

/** The folder of uploads in progress. It must share a file system with the file blob store. */
export class Staging {
  readonly #folder: string
  readonly #flush: boolean
  readonly #onFault: (fault: Error) => void

  private constructor(folder: string, { flush = true, onFault = () => {} }: StagingOptions) {
    this.#folder = folder
    this.#flush = flush
    this.#onFault = onFault
  }

  static async open(folder: string, options: StagingOptions = {}): Promise<Staging> {
    await makeFolder(folder)
    return new Staging(folder, options)
  }

  /** Returns a path that no file has yet. */
  freshPath(): string {
    return join(this.#folder, randomBytes(12).toString('hex'))
  }

  /** Writes the bytes. Resolves when they can be read back, which is before they are durable. */
  async write(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<StagedFile> {
    const path = this.freshPath()
    const handle = await this.#reportingFaults(createFile(path))
    let size: number
    try {
      await this.#reportingFaults(handle.writeFile(bytes))
      size = (await handle.stat()).size
    } catch (error) {
      await handle.close()
      await rm(path, { force: true })
      throw error
    }
    const durable = this.#reportingFaults(this.#flush ? syncAndClose(handle) : handle.close())
    // Callers that need durability await it; a discarded upload must not cause an unhandled rejection.
    durable.catch(() => {})
    return {
      path,
      size,
      durable,
      [Symbol.asyncDispose]: async () => {
        await durable.catch(() => {})
        await rm(path, { force: true })
      },
    }
  }

  async #reportingFaults<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (isDiskError(error)) this.#onFault(error)
      throw error
    }
  }

  /** Removes files older than `maxAgeMs`, which a crash left behind. Returns how many. */
  async sweep(now: number, maxAgeMs: number): Promise<number> {
    let removed = 0
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name)
      const info = await stat(path).catch(() => undefined)
      if (info === undefined || now - info.mtimeMs < maxAgeMs) continue
      await unlink(path).then(
        () => removed++,
        () => {},
      )
    }
    return removed
  }
}

async function syncAndClose(handle: FileHandle): Promise<void> {
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
