import { rm } from 'node:fs/promises'
import type { FairSlots } from '../../../lib/fair-slots.ts'
import { SERVICE } from './requests.ts'

interface Copy {
  readonly client: string
  /** Resolves to its path; undefined if there is no such blob. */
  readonly path: Promise<string | undefined>
  users: number
  /** Set once the copy has its slot. */
  releaseSlot: (() => void) | undefined
}

/**
 * Returns a function that runs `use` with a local copy of a blob. Concurrent users of the same blob share one copy, unless it
 * still waits in the queue of another client. The last user removes it.
 * @param slots limits how many copies exist
 * @param download writes a blob into a new file and returns its path; undefined if there is none
 */
export function localCopies(
  slots: FairSlots,
  download: (key: string, client: string) => Promise<string | undefined>,
) {
  const copies = new Map<string, Copy>()

  function copyOf(key: string, client: string): Copy {
    const shared = copies.get(key)
    if (shared !== undefined && (shared.releaseSlot !== undefined || shared.client === client)) return shared
    const downloaded = Promise.withResolvers<string | undefined>()
    const copy: Copy = { client, path: downloaded.promise, users: 0, releaseSlot: undefined }
    copies.set(key, copy)
    const start = async () => {
      copy.releaseSlot = await slots.take(client)
      return download(key, client)
    }
    start().then(downloaded.resolve, downloaded.reject)
    return copy
  }

  return async function withLocalCopy<T>(
    key: string,
    use: (path: string) => Promise<T>,
    client: string = SERVICE,
  ): Promise<T | undefined> {
    const copy = copyOf(key, client)
    copy.users++
    try {
      const path = await copy.path
      return path === undefined ? undefined : await use(path)
    } finally {
      copy.users--
      if (copy.users === 0) {
        if (copies.get(key) === copy) copies.delete(key)
        const path = await copy.path.catch(() => undefined)
        if (path !== undefined) await rm(path, { force: true })
        copy.releaseSlot?.()
      }
    }
  }
}
