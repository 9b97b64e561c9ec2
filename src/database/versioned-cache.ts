import { LRUCache } from 'lru-cache'
import type { Database } from './database.ts'

/**
 * Keeps what was read from the database for as long as nobody, in any process, commits anything: an answer
 * from here is never older than the last acknowledged write.
 */
export class VersionedCache<V extends {}> {
  readonly #database: Database
  readonly #entries: LRUCache<string, V>
  #version: number

  /** @param max entries kept; past it the one unused for longest goes */
  constructor(database: Database, max: number) {
    this.#database = database
    this.#entries = new LRUCache({ max })
    this.#version = database.version()
  }

  /** The value under `key`, read by `read` unless it is known. What is undefined is not kept. */
  async get(key: string, read: () => Promise<V | undefined>): Promise<V | undefined> {
    const version = this.#database.version()
    if (version !== this.#version) {
      this.#entries.clear()
      this.#version = version
    }
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const value = await read()
    // A commit during the read may have made it old already.
    if (value !== undefined && this.#database.version() === version) this.#entries.set(key, value)
    return value
  }
}
