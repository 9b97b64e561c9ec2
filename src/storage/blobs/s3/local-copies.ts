import { rm } from 'node:fs/promises'
import type { ReleaseSlot } from '../../../lib/fair-slots.ts'
import { JobQueue, queuedSlots } from '../../../lib/job-queue.ts'
import { Requesters, SERVICE_CLIENT } from '../../../lib/requesters.ts'
import type { S3Options } from './requests.ts'

interface Copy {
  users: number
  /** Aborts when a user has got a slot for it. */
  readonly started: AbortController
  releaseSlot?: ReleaseSlot
  /** Set once it has its slot. Resolves to undefined if there is no such blob. */
  path?: Promise<string | undefined>
}

/**
 * Returns a function that runs `use` with a local copy of a blob. Concurrent users of the same blob share one copy, which is
 * made in the turn of any of their clients. The last user removes it.
 * @param download writes a blob into a new file and returns its path; undefined if there is none
 */
export function localCopies(
  { copies: limit, copiesPerClient, copyWaitMs, maxWaiting, maxWaitingPerClient }: S3Options,
  download: (key: string, client: string) => Promise<string | undefined>,
) {
  const slots = queuedSlots(limit, copiesPerClient, copyWaitMs)
  const queue = new JobQueue(maxWaiting, maxWaitingPerClient)
  const copies = new Map<string, Copy>()

  async function start(key: string, copy: Copy, requesters: Requesters, end: AbortSignal): Promise<void> {
    const { client, release } = await queue.take(slots, requesters, end)
    if (copy.path !== undefined) return release()
    copy.releaseSlot = release
    copy.path = download(key, client)
    copy.started.abort()
  }

  return async function withLocalCopy<T>(
    key: string,
    use: (path: string) => Promise<T>,
    signal?: AbortSignal,
    requesters: Requesters = new Requesters(SERVICE_CLIENT),
  ): Promise<T | undefined> {
    const copy: Copy = copies.get(key) ?? { users: 0, started: new AbortController() }
    copies.set(key, copy)
    copy.users++
    try {
      if (copy.path === undefined) {
        const ends = [copy.started.signal, AbortSignal.timeout(copyWaitMs)]
        if (signal !== undefined) ends.push(signal)
        await start(key, copy, requesters, AbortSignal.any(ends)).catch((error: unknown) => {
          // No error if another user has started it.
          if (copy.path === undefined) throw error
        })
      }
      const path = await copy.path
      return path === undefined ? undefined : await use(path)
    } finally {
      copy.users--
      if (copy.users === 0) {
        copies.delete(key)
        const path = await copy.path?.catch(() => undefined)
        if (path !== undefined) await rm(path, { force: true })
        copy.releaseSlot?.()
      }
    }
  }
}
