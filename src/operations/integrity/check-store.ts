import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { hashOfDigest } from '../../imagestore/image-hash.ts'
import {
  bytesKey,
  claimStore,
  findUnreferenced,
  FOREIGN_STORE,
  isLost,
  ownershipOf,
  STRANGE_STORE,
} from '../../imagestore/blobs.ts'
import { forEachConcurrent } from '../../lib/concurrency.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { reasonOf } from '../../storage/blobs/open.ts'
import { blobFault } from './check-database.ts'
import * as queries from '../queries.ts'
import type { Repairer } from './repair.ts'
import { PAGE_ROWS, retryOverload, rowsOf, type Verification } from './verification.ts'

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
  const rows = rowsOf(database, queries.blobsAfter('', PAGE_ROWS), ({ hash }) =>
    queries.blobsAfter(hash, PAGE_ROWS),
  )
  await forEachConcurrent(rows, CONCURRENCY, async (row) => {
    verification.report(blobFault(row))
    const state = await verifyBytes(blobs, bytesKey(row.key), row, (bytes) => {
      checked.bytes += bytes
      progress.add(0, bytes)
    })
    checked.blobs++
    progress.add(1)
    if (isLost(row.key) !== (state.kind !== 'good'))
      await reportDifference(verification, repairer, row, state)
    else if (state.kind !== 'good') verification.findings.add('lost', bytesKey(row.key))
  })
}

/** Reports, and repairs, a difference between record and store, unless the record has changed since. */
async function reportDifference(
  { database, findings }: Verification,
  repairer: Repairer | undefined,
  row: { readonly hash: string; readonly key: string },
  state: BytesState,
): Promise<void> {
  const unchanged = await retryOverload(() => database.scanner.first(queries.blobWithKey(row.hash, row.key)))
  if (unchanged === undefined) return
  switch (state.kind) {
    case 'good':
      findings.add('found', bytesKey(row.key))
      return repairer?.found(row)
    case 'missing':
      findings.add('missing', row.key)
      return repairer?.missing(row)
    case 'rotted':
      findings.add('rotted', row.key)
      return repairer?.rotted(row)
    case 'unreadable':
      findings.add('unreadable', `${row.key}: ${state.reason}`)
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

type BytesState =
  | { readonly kind: 'good' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'rotted' }
  /** The store does not answer, or breaks off, which says nothing about the bytes. */
  | { readonly kind: 'unreadable'; readonly reason: string }

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
      const state = await readOnce()
      if (state !== 'rotted') return { kind: state }
      if (++mismatches === 2) return { kind: 'rotted' }
    } catch (error) {
      const reason = error instanceof Error ? reasonOf(error) : String(error)
      if (attempt >= READ_ATTEMPTS) return { kind: 'unreadable', reason }
      await pause(READ_PAUSE_MS)
    }
  }

  async function readOnce(): Promise<'good' | 'missing' | 'rotted'> {
    const found = await blobs.openWhole(key)
    if (found === undefined) return 'missing'
    if (found.size !== expected.size) {
      found.body.destroy()
      return 'rotted'
    }
    const digest = createHash('sha256')
    for await (const chunk of found.body) {
      digest.update(chunk)
      onBytes(chunk.byteLength)
    }
    return hashOfDigest(digest.digest()) === expected.hash ? 'good' : 'rotted'
  }
}
