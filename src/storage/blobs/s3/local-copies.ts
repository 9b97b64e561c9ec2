import { addAbortListener } from 'node:events'
import { rm } from 'node:fs/promises'
import { OverloadError } from '../../../lib/errors.ts'
import type { ReleaseSlot } from '../../../lib/fair-slots.ts'
import { JobQueue, queuedSlots } from '../../../lib/job-queue.ts'
import { Requesters, SERVICE_CLIENT } from '../../../lib/requesters.ts'
import type { S3Options } from './requests.ts'

interface Copy {
  /** The clients of all users that wait for it. */
  readonly requesters: Requesters
  users: number
  /** Aborts when nobody uses it any more. */
  readonly abandoned: AbortController
  releaseSlot?: ReleaseSlot
  /** Resolves to undefined if there is no such blob. */
  path?: Promise<string | undefined>
}

/**
 * Returns a function that runs `use` with a local copy of a blob. Concurrent users of the same blob share one copy, which is
 * made in the turn of any of their clients. The last user removes it.
 * @param download writes a blob into a new file in the turn of any of `requesters`, and returns its path; undefined if there is
 * none. Its wait ends with `abandoned`
 */
export function localCopies(
  { copies: limit, copiesPerClient, copyWaitMs, maxWaiting, maxWaitingPerClient }: S3Options,
  download: (key: string, requesters: Requesters, abandoned: AbortSignal) => Promise<string | undefined>,
) {
  const slots = queuedSlots(limit, copiesPerClient)
  const queue = new JobQueue(maxWaiting, maxWaitingPerClient)
  const copies = new Map<string, Copy>()

  async function start(key: string, copy: Copy): Promise<string | undefined> {
    const end = AbortSignal.any([copy.abandoned.signal, AbortSignal.timeout(copyWaitMs)])
    copy.releaseSlot = (await queue.take(slots, copy.requesters, end)).release
    return download(key, copy.requesters, copy.abandoned.signal)
  }

  return async function withLocalCopy<T>(
    key: string,
    use: (path: string) => Promise<T>,
    signal?: AbortSignal,
    requesters: Requesters = new Requesters(SERVICE_CLIENT),
  ): Promise<T | undefined> {
    const copy: Copy = copies.get(key) ?? {
      requesters: new Requesters(),
      users: 0,
      abandoned: new AbortController(),
    }
    copies.set(key, copy)
    copy.users++
    try {
      const leave = joinWith(copy.requesters, requesters)
      let path: string | undefined
      try {
        copy.path ??= start(key, copy)
        path = await unlessAborted(copy.path, signal)
      } finally {
        leave()
      }
      return path === undefined ? undefined : await use(path)
    } finally {
      copy.users--
      if (copy.users === 0) {
        copies.delete(key)
        copy.abandoned.abort()
        const path = await copy.path?.catch(() => undefined)
        if (path !== undefined) await rm(path, { force: true })
        copy.releaseSlot?.()
      }
    }
  }
}

/** Adds the clients of one set of requesters to another, and removes those who leave. Returns a function that removes all. */
function joinWith(all: Requesters, requesters: Requesters): () => void {
  const joined = new Set<string>()
  let isOver = false
  const remove = (client: string) => void (joined.delete(client) && all.remove(client))
  requesters.follow((client, left) => {
    if (isOver) return
    joined.add(client)
    all.add(client)
    left.addEventListener('abort', () => remove(client), { once: true })
  })
  return () => {
    isOver = true
    joined.forEach(remove)
  }
}

/** @throws OverloadError if the signal aborts first */
async function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result
  const aborted = Promise.withResolvers<never>()
  using _listener = addAbortListener(signal, () => aborted.reject(new OverloadError()))
  return await Promise.race([result, aborted.promise])
}
