import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database/database.ts'
import { lostKey } from './lost.ts'
import { keysOfBlobs, keysOfTrash } from './queries.ts'

/** Keys looked up at a time: two parameters each, of which SQLite takes 32,766. */
const BATCH = 1_000

/** Some of a store's keys, by what the database says of them. The rest of the batch belongs to images. */
export interface Strays {
  readonly listed: number
  /** What an upload left that was cut off between its bytes and its record. */
  readonly orphans: readonly string[]
  /** They may belong to an upload that is under way. */
  readonly young: readonly string[]
  /** Images that were deleted, whose bytes are about to go. */
  readonly trashed: readonly string[]
}

/**
 * Goes through all keys of a store, some at a time. One that was just removed may be among the orphans: it went between
 * its listing and its look-up.
 * @param since orphans were written before this, milliseconds since 1970
 */
export async function* findStrays(
  database: Database,
  blobs: BlobStore,
  since: number,
): AsyncGenerator<Strays> {
  let batch: { readonly key: string; readonly writtenAt: number }[] = []
  for await (const listed of blobs.keys()) {
    batch.push(listed)
    if (batch.length < BATCH) continue
    yield await sortOut(batch)
    batch = []
  }
  if (batch.length > 0) yield await sortOut(batch)

  async function sortOut(listed: typeof batch): Promise<Strays> {
    const keys = listed.map(({ key }) => key)
    const { scanner } = database
    const recorded = new Set(
      (await scanner.all(keysOfBlobs(keys.flatMap((key) => [key, lostKey(key)])))).map(({ key }) => key),
    )
    // After the records: what is deleted in between is then seen here.
    const trash = new Set((await scanner.all(keysOfTrash(keys))).map(({ key }) => key))
    const isStray = (key: string) => !recorded.has(key) && !recorded.has(lostKey(key))
    const strays = listed.filter(({ key }) => isStray(key) && !trash.has(key))
    return {
      listed: listed.length,
      orphans: strays.filter(({ writtenAt }) => writtenAt <= since).map(({ key }) => key),
      young: strays.filter(({ writtenAt }) => writtenAt > since).map(({ key }) => key),
      trashed: keys.filter((key) => isStray(key) && trash.has(key)),
    }
  }
}
