import type { BlobStore } from './blob-store.ts'
import { blobKey, isBlobKey } from './key.ts'

/**
 * The same store for keys that anybody may have written: nothing is stored under what is no key, nothing is found there, and
 * nothing is removed.
 */
export function withParsedKeys(store: BlobStore): BlobStore {
  const { locate, readAtOnce } = store
  return {
    ...store,
    ...(readAtOnce !== undefined && {
      readAtOnce: (key: string, target: Buffer) => isBlobKey(key) && readAtOnce(key, target),
    }),
    ...(locate !== undefined && {
      locate: async (key: string, mime: string) => locate(blobKey(key), mime),
    }),
    put: async (key, staged) => store.put(blobKey(key), staged),
    read: async (key, size) => (isBlobKey(key) ? store.read(key, size) : undefined),
    stream: async (key, start, end) => (isBlobKey(key) ? store.stream(key, start, end) : undefined),
    whole: async (key) => (isBlobKey(key) ? store.whole(key) : undefined),
    lend: async (key, use) => (isBlobKey(key) ? store.lend(key, use) : undefined),
    async remove(key) {
      if (isBlobKey(key)) await store.remove(key)
    },
    async quarantine(key) {
      if (isBlobKey(key)) await store.quarantine(key)
    },
    async *keys() {
      for await (const listed of store.keys()) if (isBlobKey(listed.key)) yield listed
    },
  }
}
