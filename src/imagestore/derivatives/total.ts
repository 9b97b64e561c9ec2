import { randomBytes } from 'node:crypto'
import { readFile, rename, rm } from 'node:fs/promises'
import { createFileWith } from '../../lib/private-files.ts'

/**
 * What the last sweep, by whichever process of the machine, found: its bytes and when, in a small file beside the folders. To
 * count anew would take minutes where there is much.
 */
export class SweptTotal {
  readonly #path: string
  /** What this process added since that sweep. */
  #added = 0
  #sweptAt = 0

  constructor(path: string) {
    this.#path = path
  }

  add(bytes: number): void {
    this.#added += bytes
  }

  /** What a sweep that begins now will find among the rest. */
  get added(): number {
    return this.#added
  }

  /** @param counted what had been added when the sweep began */
  async note(bytes: number, now: number, counted: number): Promise<void> {
    const fresh = `${this.#path}.${randomBytes(6).toString('hex')}`
    try {
      await createFileWith(fresh, JSON.stringify([bytes, now]))
      await rename(fresh, this.#path)
      this.#sweptAt = now
      this.#added = Math.max(0, this.#added - counted)
    } catch (error) {
      await rm(fresh, { force: true }).catch(() => {})
      throw error
    }
  }

  /** Bytes of the disk, to within what other processes added and what was deleted since the last sweep. */
  async bytes(): Promise<number> {
    const { bytes, at } = await this.#read()
    if (at !== this.#sweptAt) {
      this.#sweptAt = at
      this.#added = 0
    }
    return bytes + this.#added
  }

  /** Nothing where no sweep has been, or where a power cut left half of it: the next one writes it anew. */
  async #read(): Promise<{ bytes: number; at: number }> {
    try {
      const found: unknown = JSON.parse(await readFile(this.#path, 'utf8'))
      const [bytes, at]: readonly unknown[] = Array.isArray(found) ? found : []
      return { bytes: Number(bytes ?? 0), at: Number(at ?? 0) }
    } catch {
      return { bytes: 0, at: 0 }
    }
  }
}
