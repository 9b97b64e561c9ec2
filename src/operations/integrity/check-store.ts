import { setTimeout as pause } from 'node:timers/promises'
import {
  bytesKey,
  claimStore,
  findUnreferenced,
  FOREIGN_STORE,
  isLost,
  ownershipOf,
  STRANGE_STORE,
  lostKey,
} from '../../imagestore/blobs.ts'
import { verifyBlob } from '../../imagestore/verified-blobs.ts'
import { forEachConcurrent } from '../../lib/concurrency.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { reasonOf } from '../../storage/blobs/open.ts'
import { blobFault } from './check-database.ts'
import * as queries from '../queries.ts'
import { PAGE_ROWS, retryOverload, rowsOf, type Verification } from './verification.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { heldUntil } from '../../storage/database/transfer-marks.ts'
import { blobByHash, renameBlob, touchImages } from '../../imagestore/queries.ts'

/** Blobs read concurrently. Each takes a file or a connection, and some hundred kilobytes. */
const CONCURRENCY = 16
const READ_ATTEMPTS = 3
const READ_PAUSE_MS = 500

/**
 * Returns whether the store belongs to this database.
 * @param options `claim` takes it over from any owner; `repair` claims it if it has no owner
 */
export async function checkOwner(
  { database, blobs, findings }: Verification,
  options: { readonly claim: boolean; readonly repair: boolean },
): Promise<boolean> {
  if (options.claim) await claimStore(database, blobs)
  const ownership = await ownershipOf(database, blobs, options.repair)
  switch (ownership.kind) {
    case 'own':
      return true
    case 'foreign':
      findings.add('store', `${FOREIGN_STORE}, ${ownership.owner}`)
      return false
    case 'strange':
      findings.add('store', STRANGE_STORE)
      return false
  }
}

/**
 * Reads and verifies the bytes of every recorded image.
 * @param repairer undefined to repair nothing
 */
export async function checkBytes(verification: Verification, repairer: Repairer | undefined): Promise<void> {
  const { database, blobs, checked, progress } = verification
  await verification.begin('bytes', 'blobs')
  const rows = rowsOf(database, (last?: { hash: string }) => queries.blobsAfter(last?.hash ?? '', PAGE_ROWS))
  await forEachConcurrent(rows, CONCURRENCY, async (row) => {
    verification.report(blobFault(row))
    const state = await verifyBytes(blobs, bytesKey(row.key), row, (bytes) => {
      checked.bytes += bytes
      progress.add(0, bytes)
    })
    checked.blobs++
    progress.add(1)
    if (isLost(row.key) !== (state !== 'good')) await reportDifference(verification, repairer, row, state)
    else if (state !== 'good') verification.findings.add('lost', bytesKey(row.key))
  })
}

/** Reports, and repairs, a difference between record and store, unless the record has changed since. */
async function reportDifference(
  { database, findings }: Verification,
  repairer: Repairer | undefined,
  row: Recorded,
  state: BytesState,
): Promise<void> {
  const unchanged = await retryOverload(() => database.scanner.first(queries.blobWithKey(row.hash, row.key)))
  if (unchanged === undefined) return
  switch (state) {
    case 'good':
      findings.add('found', bytesKey(row.key))
      return repairer?.found(row)
    case 'missing':
      findings.add('missing', row.key)
      return repairer?.missing(row)
    case 'rotted':
      findings.add('rotted', row.key)
      return repairer?.rotted(row)
    default:
      findings.add('unreadable', `${row.key}: ${state.unreadable}`)
  }
}

/**
 * Lists the store and reports files without a record.
 * @param repairer undefined to repair nothing
 * @param writtenBefore milliseconds since 1970; younger files may belong to an upload in progress
 */
export async function checkOrphans(
  verification: Verification,
  repairer: Repairer | undefined,
  writtenBefore: number,
): Promise<void> {
  const { database, blobs, checked, findings, progress } = verification
  progress.begin('store')
  for await (const strays of findUnreferenced(database, blobs, writtenBefore)) {
    checked.trashed += strays.trashed.length
    checked.young += strays.young.length
    for (const key of strays.orphans) {
      // It may have been removed since it was listed.
      const found = await blobs.openWhole(key)
      found?.body.destroy()
      if (found === undefined) continue
      findings.add('orphaned', key)
      verification.report(await repairer?.orphaned(key))
    }
    progress.add(strays.listed)
  }
}

/** `unreadable`: why the store does not answer, or breaks off, which says nothing about the bytes. */
type BytesState = 'good' | 'missing' | 'rotted' | { readonly unreadable: string }

/**
 * Reads a whole blob and compares it with its record. Wrong bytes are read a second time, because they may have changed in
 * transit.
 * @param onBytes called with the number of bytes read
 */
async function verifyBytes(
  blobs: BlobStore,
  key: string,
  expected: { readonly hash: string; readonly size: number },
  onBytes: (bytes: number) => void,
): Promise<BytesState> {
  let mismatches = 0
  for (let attempt = 1; ; attempt++) {
    try {
      const state = await verifyBlob(blobs, key, expected, onBytes)
      if (state === 'valid') return 'good'
      if (state === 'missing') return 'missing'
      if (++mismatches === 2) return 'rotted'
    } catch (error) {
      const reason = error instanceof Error ? reasonOf(error) : String(error)
      if (attempt >= READ_ATTEMPTS) return { unreadable: reason }
      await pause(READ_PAUSE_MS)
    }
  }
}

interface Recorded {
  readonly hash: string
  readonly key: string
}

/** Repairs findings one by one. If it is interrupted, the next run finds and repairs the rest. */
export class Repairer {
  readonly #database: Database
  readonly #blobs: BlobStore
  readonly #clock: Clock
  /** Counts of repairs. */
  readonly done = { markedLost: 0, quarantined: 0, recovered: 0, removed: 0 }

  constructor(database: Database, blobs: BlobStore, clock: Clock) {
    this.#database = database
    this.#blobs = blobs
    this.#clock = clock
  }

  async missing({ hash, key }: Recorded): Promise<void> {
    await this.#rename(hash, key, lostKey(key), 'markedLost')
  }

  async rotted({ hash, key }: Recorded): Promise<void> {
    // Quarantined first: without a record the sweep would remove the bytes, which may be all that is left of the image.
    await this.#blobs.quarantine(key)
    this.done.quarantined++
    await this.#rename(hash, key, lostKey(key), 'markedLost')
  }

  async found({ hash, key }: Recorded): Promise<void> {
    await this.#rename(hash, key, bytesKey(key), 'recovered')
  }

  /** @returns a fault if the database contradicts itself; then the bytes stay */
  async orphaned(key: string): Promise<string | undefined> {
    // No record was found by its key. Removal is final, so look it up by its hash too, in another index.
    const hash = key.slice(0, key.indexOf('.'))
    const recorded = await retryOverload(() => this.#database.first(blobByHash(hash)))
    if (recorded !== undefined && bytesKey(recorded.key) === key) {
      return `blob ${key}: found by its hash but not by its key`
    }
    // A running backup may still have to copy it; the next repair removes it.
    if ((await heldUntil(this.#database, this.#clock.now())) !== undefined) return undefined
    await this.#blobs.remove(key)
    this.done.removed++
    return undefined
  }

  async #rename(hash: string, from: string, to: string, counter: 'markedLost' | 'recovered'): Promise<void> {
    const renamed = await retryOverload(() =>
      this.#database.transaction(async (tx) => {
        const count = await tx.run(renameBlob(hash, from, to))
        // Makes running services drop what they cache of the image.
        if (count > 0) await tx.run(touchImages(hash))
        return count
      }),
    )
    this.done[counter] += renamed
  }
}
