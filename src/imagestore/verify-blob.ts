import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { withRetries } from '../lib/concurrency.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import { reasonOf } from '../storage/blobs/open.ts'
import type { Database } from '../storage/database/database.ts'
import { lostKey, isLost } from './blobs.ts'
import { hashOfDigest, type BlobRow } from './image-fields.ts'
import { renameBlob, touchImages, blobByHash, blobsBetween } from './queries.ts'
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'

const READ_ATTEMPTS = 3
const READ_PAUSE_MS = 500

/** `unreadable`: why the store does not answer, or breaks off, which says nothing about the bytes. */
export type BytesState = 'valid' | 'missing' | 'damaged' | { readonly unreadable: string }

/**
 * Reads a whole blob and compares it with its record.
 * @param onBytes called with the number of bytes of each chunk
 */
export async function verifyBlob(
  store: BlobStore,
  key: string,
  { hash, size }: Pick<BlobRow, 'hash' | 'size'>,
  onBytes: (bytes: number) => void = () => {},
): Promise<'valid' | 'missing' | 'damaged'> {
  const found = await store.openWhole(key)
  if (found === undefined) return 'missing'
  if (found.size !== size) {
    found.body.destroy()
    return 'damaged'
  }
  const digest = createHash('sha256')
  for await (const chunk of found.body) {
    digest.update(chunk)
    onBytes(chunk.byteLength)
  }
  return hashOfDigest(digest.digest()) === hash ? 'valid' : 'damaged'
}

/**
 * Does the same for a store that may fail. Wrong bytes are read a second time, because they may have changed in transit.
 * @param onBytes called with the number of bytes of each chunk
 */
export async function verifyBlobTwice(
  store: BlobStore,
  key: string,
  expected: Pick<BlobRow, 'hash' | 'size'>,
  onBytes?: (bytes: number) => void,
): Promise<BytesState> {
  const read = () =>
    withRetries(() => verifyBlob(store, key, expected, onBytes), {
      attempts: READ_ATTEMPTS,
      firstPauseMs: READ_PAUSE_MS,
    })
  try {
    const state = await read()
    return state === 'damaged' ? await read() : state
  } catch (error) {
    return { unreadable: error instanceof Error ? reasonOf(error) : String(error) }
  }
}

/** Changes the key of a blob, unless it has changed in between, and makes running services drop what they cache of the image. */
export const rename = (database: Database, hash: string, from: string, to: string): Promise<number> =>
  database.transaction(async (tx) => {
    const count = await tx.run(renameBlob(hash, from, to))
    if (count > 0) await tx.run(touchImages(hash))
    return count
  })

/**
 * Marks an image whose bytes are damaged as lost. The bytes are quarantined first: without a record the sweep would remove them,
 * and they may be all that is left of the image.
 * @returns 0 if the record has changed in between
 */
export async function markDamaged(
  database: Database,
  store: BlobStore,
  { hash, key }: Pick<BlobRow, 'hash' | 'key'>,
): Promise<number> {
  await store.quarantine(key)
  return rename(database, hash, key, lostKey(key))
}

const HOUR_MS = 3_600_000
/**
 * Each hour has a part of all hashes, so that all are checked within a month and nothing has to be remembered. A prime number: a
 * service that runs a few hours a day reaches all parts too.
 */
const PARTS = 719
const PAGE_BLOBS = 500
/** Pause after each original, as a multiple of the time that it took: reads take a tenth of the time at most. */
const REST_FACTOR = 9
/** Characters of hashes in the order of their codes. */
const CHARACTERS = '234567abcdefghijklmnopqrstuvwxyz'
const PREFIX_LENGTH = 4

interface OriginalChecksContext {
  readonly database: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly log: Pick<Logger, 'error'>
}

/** The start of all hashes from this share of them on. */
function prefixAt(share: number): string {
  let prefix = ''
  for (let rest = share; prefix.length < PREFIX_LENGTH; rest %= 1)
    prefix += CHARACTERS.charAt(Math.floor((rest *= CHARACTERS.length))) || '~'
  return prefix
}

/**
 * Reads the originals and compares them with their hashes, because links do not. Damaged ones are marked as lost; missing ones are
 * only reported, because the whole store may be unavailable.
 */
export class OriginalChecks {
  readonly #context: OriginalChecksContext
  checked = 0
  damaged = 0

  constructor(context: OriginalChecksContext) {
    this.#context = context
  }

  /** Checks the part of the present hour. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, database } = this.#context
    const part = Math.floor(clock.now() / HOUR_MS) % PARTS
    const end = prefixAt((part + 1) / PARTS)
    for (let after = prefixAt(part / PARTS); !signal.aborted;) {
      const page = await database.all(blobsBetween(after, end, PAGE_BLOBS))
      for (const blob of page) {
        if (signal.aborted || isLost(blob.key)) continue
        const startedAt = performance.now()
        await this.#check(blob)
        const restMs = REST_FACTOR * (performance.now() - startedAt)
        await pause(restMs, undefined, { signal, ref: false }).catch(() => undefined)
      }
      const last = page.at(-1)
      if (last === undefined) return
      after = last.hash
    }
  }

  async #check(blob: Pick<BlobRow, 'hash' | 'key' | 'size'>): Promise<void> {
    const { blobs, database, log } = this.#context
    const state = await verifyBlobTwice(blobs, blob.key, blob)
    this.checked++
    if (state === 'valid') return
    // It may have been deleted in the meantime.
    if ((await database.first(blobByHash(blob.hash)))?.key !== blob.key) return
    if (state === 'damaged') {
      if ((await markDamaged(database, blobs, blob)) === 0) return
      this.damaged++
      log.error({ key: blob.key }, 'an original is damaged, and was marked as lost')
    } else log.error({ key: blob.key, state }, 'an original could not be checked')
  }
}
