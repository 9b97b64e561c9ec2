import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import { reasonOf } from '../storage/blobs/open.ts'
import type { Database } from '../storage/database/database.ts'
import { lostKey } from './blobs.ts'
import { hashOfDigest } from './image-hash.ts'
import type { BlobRow } from './image-fields.ts'
import { renameBlob, touchImages } from './queries.ts'

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
  let mismatches = 0
  for (let attempt = 1; ; attempt++) {
    try {
      const state = await verifyBlob(store, key, expected, onBytes)
      if (state !== 'damaged' || ++mismatches === 2) return state
    } catch (error) {
      const reason = error instanceof Error ? reasonOf(error) : String(error)
      if (attempt >= READ_ATTEMPTS) return { unreadable: reason }
      await pause(READ_PAUSE_MS)
    }
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
