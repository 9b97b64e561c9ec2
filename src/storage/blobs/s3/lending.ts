import { rm } from 'node:fs/promises'
import type { FairSlots } from '../../../lib/fair-slots.ts'
import { SERVICE } from './options.ts'

interface Copy {
  readonly client: string
  /** Its path; undefined when there is no such blob. */
  readonly ready: Promise<string | undefined>
  users: number
  /** Set once it has its slot: returns that. */
  leave: (() => void) | undefined
}

/**
 * Lends blobs as private files. Those who ask for the same blob at the same time share one copy, unless it is still in line
 * among those of another client; it is gone when the last of them is done.
 * @param slots bounds how many copies there are
 * @param fetch writes a blob into a new file and returns its path; undefined when there is none
 */
export function createLending(
  slots: FairSlots,
  fetch: (key: string, client: string) => Promise<string | undefined>,
) {
  const copies = new Map<string, Copy>()

  function copyOf(key: string, client: string): Copy {
    const shared = copies.get(key)
    if (shared !== undefined && (shared.leave !== undefined || shared.client === client)) return shared
    const fetched = Promise.withResolvers<string | undefined>()
    const copy: Copy = { client, ready: fetched.promise, users: 0, leave: undefined }
    copies.set(key, copy)
    const fetchInTurn = async () => {
      copy.leave = await slots.take(client)
      return fetch(key, client)
    }
    fetchInTurn().then(fetched.resolve, fetched.reject)
    return copy
  }

  return async function lend<T>(
    key: string,
    use: (path: string) => Promise<T>,
    client: string = SERVICE,
  ): Promise<T | undefined> {
    const copy = copyOf(key, client)
    copy.users++
    try {
      const path = await copy.ready
      return path === undefined ? undefined : await use(path)
    } finally {
      copy.users--
      if (copy.users === 0) {
        if (copies.get(key) === copy) copies.delete(key)
        const path = await copy.ready.catch(() => undefined)
        if (path !== undefined) await rm(path, { force: true })
        copy.leave?.()
      }
    }
  }
}
