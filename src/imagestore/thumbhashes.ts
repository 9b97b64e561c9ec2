import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database/database.ts'
import type { ImageEngine } from './decoder/index.ts'
import { announce, blobsAfter, fillThumbhash } from './queries-thumbhashes.ts'

/** Blobs looked at in one statement. */
const PAGE = 500
/** Between pages, so that going over millions of records is nothing that anybody notices. */
const PAGE_PAUSE_MS = 50
/** After each image so many times what it took: a quarter of one decoder at most. */
const REST = 3
/** While decoders have other things to do, they are looked at this often. */
const BUSY_PAUSE_MS = 1_000

export interface MissingThumbhashes {
  readonly database: Database
  readonly blobs: BlobStore
  readonly engine: ImageEngine
  readonly log: Pick<Logger, 'info'>
}

/**
 * Works out the ThumbHash of images that were stored before there was any, one after the other and only while no other image
 * is being decoded. May be cut off at any point: what is filled in stays. What does not decode is passed over until the next time.
 * @returns how many were filled in
 */
export async function fillThumbhashes(
  { database, blobs, engine, log }: MissingThumbhashes,
  signal: AbortSignal,
): Promise<number> {
  let filled = 0
  for (let after = ''; !signal.aborted;) {
    const page = await database.all(blobsAfter(after, PAGE))
    for (const { hash, key } of page.filter(({ thumbhash }) => thumbhash === null)) {
      if (!(await idle(engine, signal))) break
      const began = performance.now()
      // A store that is away, or bytes that are lost: nobody waits for this, and the next pass tries again.
      const made = await blobs
        .withLocalFile(key, (path) => engine.inspect(path, signal))
        .catch(() => undefined)
      if (made?.kind === 'image') {
        const { thumbhash } = made
        filled += await database.transaction(async (tx) => {
          const count = await tx.run(fillThumbhash(hash, key, thumbhash))
          if (count > 0) await tx.run(announce(hash))
          return count
        })
      }
      await rest(REST * (performance.now() - began), signal)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) break
    after = last.hash
    await rest(PAGE_PAUSE_MS, signal)
  }
  if (filled > 0) log.info({ filled }, 'ThumbHashes of earlier images worked out')
  return filled
}

/** @returns false when it is to stop */
async function idle(engine: ImageEngine, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    if (signal.aborted) return false
    const { running, waiting } = engine.stats()
    if (running + waiting === 0) return true
    await rest(BUSY_PAUSE_MS, signal)
  }
}

/** Ends early when it is to stop. */
const rest = (ms: number, signal: AbortSignal): Promise<unknown> =>
  pause(ms, undefined, { signal, ref: false }).catch(() => undefined)
