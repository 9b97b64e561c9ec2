import { rm } from 'node:fs/promises'
import type { Slots } from '../../core/queue.ts'

interface Copy {
  /** Its path; undefined when there is no such blob. */
  readonly ready: Promise<string | undefined>
  users: number
  leave: () => void
}

/**
 * Lends blobs as private files. Those who ask for the same blob at the same time share one copy; it is gone when the
 * last of them is done.
 * @param slots bounds how many copies there are
 * @param fetch writes a blob into a new file and returns its path; undefined when there is none
 */
export function createLending(slots: Slots, fetch: (key: string) => Promise<string | undefined>) {
  const copies = new Map<string, Copy>()

  function copyOf(key: string): Copy {
    const shared = copies.get(key)
    if (shared !== undefined) return shared
    const fetched = Promise.withResolvers<string | undefined>()
    const copy: Copy = { ready: fetched.promise, users: 0, leave: () => {} }
    copies.set(key, copy)
    const fetchInTurn = async () => {
      copy.leave = await slots.take()
      return fetch(key)
    }
    fetchInTurn().then(fetched.resolve, fetched.reject)
    return copy
  }

  return async function lend<T>(key: string, use: (path: string) => Promise<T>): Promise<T | undefined> {
    const copy = copyOf(key)
    copy.users++
    try {
      const path = await copy.ready
      return path === undefined ? undefined : await use(path)
    } finally {
      copy.users--
      if (copy.users === 0) {
        copies.delete(key)
        const path = await copy.ready.catch(() => undefined)
        if (path !== undefined) await rm(path, { force: true })
        copy.leave()
      }
    }
  }
}
