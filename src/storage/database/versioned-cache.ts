import type { LRUCache } from 'lru-cache'
import { lruCache } from '../../lib/lru-cache.ts'
import type { Topic } from './changes/change.ts'
import type { Database } from './database.ts'

/**
 * Keeps what was read from the database for as long as nobody, in any process, commits a change of its topics. As old as
 * `Database.version` may be, so old may an answer from here be: of this process's own writes it knows all.
 */
export class VersionedCache<V extends {}> {
  readonly #database: Database
  readonly #topics: readonly Topic[]
  readonly #entries: LRUCache<string, V>
  #version: number

  /**
   * @param topics all that values are read from must belong to one of them
   * @param max entries kept; past it the one unused for longest goes
   */
  constructor(database: Database, topics: Topic | readonly Topic[], max: number) {
    this.#database = database
    this.#topics = [topics].flat()
    this.#entries = lruCache(max)
    this.#version = this.version
  }

  /** Another one at each change of the topics. Versions only grow: none of them can make up for another. */
  get version(): number {
    let sum = 0
    for (const topic of this.#topics) sum += this.#database.version(topic)
    return sum
  }

  /** The value under `key` where it is known at this moment. */
  peek(key: string): V | undefined {
    return this.version === this.#version ? this.#entries.get(key) : undefined
  }

  /** The value under `key`, read by `read` unless it is known. What is undefined is not kept. */
  async get(key: string, read: () => Promise<V | undefined>): Promise<V | undefined> {
    const { version } = this
    if (version !== this.#version) {
      this.#entries.clear()
      this.#version = version
    }
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const value = await read()
    // A commit during the read may have made it old already.
    if (value !== undefined && this.version === version) this.#entries.set(key, value)
    return value
  }
}
