import { LRUCache } from 'lru-cache'

/** What a client added counts half after this time. */
const HALF_LIFE_MS = 1_800_000
const MAX_CLIENTS = 10_000
/** Derivatives that were made and not kept: a second request says that they are wanted. Some 100 bytes each. */
const MAX_SEEN = 20_000

interface Added {
  readonly bytes: number
  readonly at: number
}

/** Where a derivative is kept. */
export interface Admission {
  readonly disk: boolean
  /** In the store that nodes share, which has no cap. */
  readonly shared: boolean
}

/**
 * Decides which derivatives are worth a place. Anybody can ask for any number of sizes, each of which would push out what
 * others use. So a client that has added more than its share has further ones kept on the disk only when they are asked for
 * a second time, and not at all in the shared store.
 */
export class CacheAdmission {
  readonly #clientBytes: number
  readonly #added = new LRUCache<string, Added>({ max: MAX_CLIENTS })
  readonly #seen = new LRUCache<string, true>({ max: MAX_SEEN })

  /** @param clientBytes the share of one client */
  constructor(clientBytes: number) {
    this.#clientBytes = clientBytes
  }

  /** To be asked once for each derivative that was made. @param key of the derivative */
  admit(client: string, key: string, bytes: number): Admission {
    const now = performance.now()
    const added = this.#added.get(client)
    const sum = (added === undefined ? 0 : added.bytes * 2 ** ((added.at - now) / HALF_LIFE_MS)) + bytes
    if (sum <= this.#clientBytes) {
      this.#added.set(client, { bytes: sum, at: now })
      return { disk: true, shared: true }
    }
    const isSecond = this.#seen.has(key)
    this.#seen.set(key, true)
    return { disk: isSecond, shared: false }
  }
}
