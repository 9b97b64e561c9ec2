import type { LRUCache } from 'lru-cache'
import { lruCache } from '../../lib/lru-cache.ts'
import type { Topic } from './changes/change.ts'
import type { Database } from './database.ts'

/**
 * Caches what was read from the database until any process commits a change of its topics. Values may be as old as
 * `Database.version`; writes of this process are seen immediately.
 */
export class VersionedCache<V extends {}> {
  readonly #database: Database
  readonly #topics: readonly Topic[]
  readonly #max: number
  #entries: LRUCache<string, V>
  #version: number

  /**
   * @param topics everything that the values are read from must belong to one of them
   * @param max entries kept
   */
  constructor(database: Database, topics: Topic | readonly Topic[], max: number) {
    this.#database = database
    this.#topics = [topics].flat()
    this.#max = max
    this.#entries = lruCache(max)
    this.#version = this.version
  }

  /** Changes with each change of the topics. The versions of topics only grow, so their sum cannot repeat. */
  get version(): number {
    let sum = 0
    for (const topic of this.#topics) sum += this.#database.version(topic)
    return sum
  }

  /** Returns the cached value if it is current. */
  peek(key: string): V | undefined {
    return this.version === this.#version ? this.#entries.get(key) : undefined
  }

  /** Returns the cached value, or reads it with `read`. Undefined is not cached. */
  async get<R extends V | undefined>(key: string, read: () => Promise<R>): Promise<V | R> {
    const { version } = this
    if (version !== this.#version) {
      // Clearing it would visit each entry.
      this.#entries = lruCache(this.#max)
      this.#version = version
    }
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const value = await read()
    // A commit during the read may have made it stale.
    if (value !== undefined && this.version === version) this.#entries.set(key, value)
    return value
  }
}
