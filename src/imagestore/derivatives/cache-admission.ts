import { lruCache } from '../../lib/lru-cache.ts'

/** What a client has added counts half after this time. */
const HALF_LIFE_MS = 1_800_000
const MAX_CLIENTS = 10_000
/** Derivatives that were rendered but not stored, about 100 bytes each: a second request shows that they are wanted. */
const MAX_REJECTED = 20_000

/** Where a derivative is stored. */
export interface Admission {
  readonly disk: boolean
  /** In the store that nodes share, which has no size limit. */
  readonly shared: boolean
}

/** Called once for each rendered derivative. @param key of the derivative */
export type Admit = (client: string, key: string, bytes: number) => Admission

/**
 * Decides which derivatives are stored. Anybody can request any number of sizes, each of which would evict what others use.
 * So further derivatives of a client that has exceeded its share are stored on disk only at the second request, and never
 * in the shared store.
 * @param clientBytes the share of one client
 */
export function cacheAdmission(clientBytes: number): Admit {
  const addedBy = lruCache<{ readonly bytes: number; readonly at: number }>(MAX_CLIENTS)
  const rejected = lruCache<true>(MAX_REJECTED)
  return (client, key, bytes) => {
    const now = performance.now()
    const added = addedBy.get(client)
    const sum = (added === undefined ? 0 : added.bytes * 2 ** ((added.at - now) / HALF_LIFE_MS)) + bytes
    if (sum <= clientBytes) {
      addedBy.set(client, { bytes: sum, at: now })
      return { disk: true, shared: true }
    }
    const isSecond = rejected.has(key)
    rejected.set(key, true)
    return { disk: isSecond, shared: false }
  }
}
