import { isDiskFault } from '../../lib/disk-faults.ts'
import type { BlobStore } from './blob-store.ts'

/** Told how long each operation of a store took, for the metrics. */
export type ObserveBlobs = (operation: 'put' | 'read' | 'stream' | 'remove', seconds: number) => void

/**
 * The same store, with its operations timed. A stream counts until it is open.
 * @param onDiskFault called when one fails because of the disk
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
      if (isDiskFault(error)) onDiskFault(error)
      throw error
    } finally {
      observe(operation, (performance.now() - start) / 1000)
    }
  }
  const { readAtOnce } = store
  return {
    ...store,
    ...(readAtOnce !== undefined && {
      readAtOnce: (key: string, target: Buffer) => {
        const start = performance.now()
        const isRead = readAtOnce(key, target)
        if (isRead) observe('read', (performance.now() - start) / 1000)
        return isRead
      },
    }),
    put: (key, staged, client) => timed('put', () => store.put(key, staged, client)),
    read: (key, size, client) => timed('read', () => store.read(key, size, client)),
    stream: (key, start, end, client) => timed('stream', () => store.stream(key, start, end, client)),
    remove: (key) => timed('remove', () => store.remove(key)),
  }
}
