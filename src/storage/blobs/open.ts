import { isDiskError } from '../../lib/errors.ts'
import { blobKey, isBlobKey, type BlobStore } from './blob-store.ts'
import { openFileBlobs } from './file-store.ts'
import type { S3Location } from './s3/location.ts'
import type { ObserveAttempts, ObserveFaults } from './s3/requests.ts'
import type { Staging } from './staging.ts'

/** Called with the duration of each operation, for the metrics. */
export type ObserveBlobs = (operation: 'put' | 'read' | 'stream' | 'remove', seconds: number) => void

/**
 * Opens the blob store of the settings.
 * @param location undefined for files in `folder`
 * @param onFault called for every operation on a remote store that failed despite retries
 * @param onAttempt called for every request to a remote store
 */
export async function openBlobs(
  location: S3Location | undefined,
  folder: string,
  staging: Staging,
  onFault: ObserveFaults,
  onAttempt?: ObserveAttempts,
): Promise<{ readonly store: BlobStore } & Disposable> {
  if (location === undefined) {
    return { store: withValidKeys(await openFileBlobs(folder)), [Symbol.dispose]() {} }
  }
  // Loaded on demand: the SDK is large.
  const { openS3Blobs } = await import('./s3/store.ts')
  const opened = openS3Blobs(location, staging, onFault, undefined, onAttempt)
  // The store may come up later than this service, so nothing waits for it, but wrong settings are logged immediately.
  opened.store.ping().catch(() => {})
  return { store: withValidKeys(opened.store), [Symbol.dispose]: opened.close }
}

/** Returns the reason for an error whose own message only says that the service is overloaded. */
export function reasonOf({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message : message
}

/** Returns the same store for untrusted keys: it stores nothing under an invalid key, and finds and removes nothing there. */
function withValidKeys(store: BlobStore): BlobStore {
  const { locate } = store
  return {
    ...store,
    ...(locate !== undefined && {
      locate: async (key: string, mime: string) => locate(blobKey(key), mime),
    }),
    put: async (key, staged, client) => store.put(blobKey(key), staged, client),
    read: async (key, size, caller) => (isBlobKey(key) ? store.read(key, size, caller) : undefined),
    stream: async (key, start, end, caller) =>
      isBlobKey(key) ? store.stream(key, start, end, caller) : undefined,
    openWhole: async (key) => (isBlobKey(key) ? store.openWhole(key) : undefined),
    withLocalFile: async (key, use, caller, size) =>
      isBlobKey(key) ? store.withLocalFile(key, use, caller, size) : undefined,
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

/**
 * Returns the same store with its operations timed. A stream counts until it is open.
 * @param onDiskFault called when an operation fails because of the disk
 */
export function observed(
  store: BlobStore,
  observe: ObserveBlobs,
  onDiskFault: (fault: Error) => void,
): BlobStore {
  async function timed<T>(operation: Parameters<ObserveBlobs>[0], work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (isDiskError(error)) onDiskFault(error)
      throw error
    } finally {
      observe(operation, (performance.now() - start) / 1000)
    }
  }
  return {
    ...store,
    put: (key, staged, client) => timed('put', () => store.put(key, staged, client)),
    read: (key, size, caller) => timed('read', () => store.read(key, size, caller)),
    stream: (key, start, end, caller) => timed('stream', () => store.stream(key, start, end, caller)),
    remove: (key) => timed('remove', () => store.remove(key)),
  }
}
