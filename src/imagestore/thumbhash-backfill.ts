import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { SERVICE } from '../lib/client.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database/database.ts'
import type { ImageEngine } from './decoder/index.ts'
import { blobsAfter, fillThumbhash, touchImages } from './queries.ts'

const PAGE_BLOBS = 500
const PAGE_PAUSE_MS = 50
/** Pause after each image, as a multiple of the time it took: uses a quarter of one decoder at most. */
const REST_FACTOR = 3
const BUSY_POLL_MS = 1_000

export interface ThumbhashBackfill {
  readonly database: Database
  readonly blobs: BlobStore
  readonly engine: ImageEngine
  readonly log: Pick<Logger, 'info'>
}

/**
 * Computes missing ThumbHashes, one at a time and only while the decoders are idle. May be aborted at any time. Images that
 * do not decode are skipped until the next run. Returns how many were filled.
 */
export async function fillThumbhashes(
  { database, blobs, engine, log }: ThumbhashBackfill,
  signal: AbortSignal,
): Promise<number> {
  let filled = 0
  const caller = { ...SERVICE, signal }
  for (let after = ''; !signal.aborted;) {
    const page = await database.all(blobsAfter(after, PAGE_BLOBS))
    for (const { hash, key } of page.filter(({ thumbhash }) => thumbhash === null)) {
      if (!(await untilIdle(engine, signal))) break
      const startedAt = performance.now()
      // If the store fails or bytes are lost, the next run tries again.
      const inspection = await blobs
        .withLocalFile(key, (path) => engine.inspect(path, caller), caller)
        .catch(() => undefined)
      if (inspection?.kind === 'image') {
        filled += await database.transaction(async (tx) => {
          const count = await tx.run(fillThumbhash(hash, key, inspection.thumbhash))
          if (count > 0) await tx.run(touchImages(hash))
          return count
        })
      }
      await sleep(REST_FACTOR * (performance.now() - startedAt), signal)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_BLOBS) break
    after = last.hash
    await sleep(PAGE_PAUSE_MS, signal)
  }
  if (filled > 0) log.info({ filled }, 'ThumbHashes of earlier images computed')
  return filled
}

/** Waits until no image is being decoded. Returns false if aborted. */
async function untilIdle(engine: ImageEngine, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const { running, waiting } = engine.stats()
    if (running + waiting === 0) return true
    await sleep(BUSY_POLL_MS, signal)
  }
  return false
}

/** Ends early on abort. */
const sleep = (ms: number, signal: AbortSignal): Promise<unknown> =>
  pause(ms, undefined, { signal, ref: false }).catch(() => undefined)
