import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database/database.ts'
import { isLost } from './blobs.ts'
import type { BlobRow } from './image-fields.ts'
import { blobByHash, blobsBetween } from './queries.ts'
import { markDamaged, verifyBlobTwice } from './verify-blob.ts'

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

/** What the checks are built on. */
export interface OriginalChecksContext {
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
