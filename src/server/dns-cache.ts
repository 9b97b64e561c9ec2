import { LRUCache } from 'lru-cache'
import type { AnswerStore, CachedAnswer } from '../lib/dns/index.ts'

const MAX_BYTES = 32 * 2 ** 20
const MAX_CLIENT_BYTES = MAX_BYTES / 2

interface Entry {
  readonly cached: CachedAnswer
  readonly client: string
}

interface Share {
  bytes: number
  /** Oldest first. */
  readonly keys: Set<string>
}

/** DNS answers in memory. A client that has half of them replaces its own, so it cannot evict those of all others. */
export class DnsCache implements AnswerStore {
  readonly #shares = new Map<string, Share>()
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ cached }) => cached.bytes,
    dispose: (entry, key) => this.#discharge(entry, key),
  })

  get(key: string): CachedAnswer | undefined {
    return this.#entries.get(key)?.cached
  }

  set(key: string, cached: CachedAnswer, client: string): void {
    for (const oldest of this.#shares.get(client)?.keys ?? []) {
      if ((this.#shares.get(client)?.bytes ?? 0) + cached.bytes <= MAX_CLIENT_BYTES) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, { cached, client })
    const share = this.#shares.get(client) ?? { bytes: 0, keys: new Set() }
    this.#shares.set(client, share)
    share.bytes += cached.bytes
    share.keys.add(key)
  }

  #discharge({ cached, client }: Entry, key: string): void {
    const share = this.#shares.get(client)
    if (share === undefined) return
    share.bytes -= cached.bytes
    share.keys.delete(key)
    if (share.keys.size === 0) this.#shares.delete(client)
  }
}
