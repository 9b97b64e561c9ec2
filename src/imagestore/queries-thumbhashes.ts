import { limit, sql } from '../storage/database/sql.ts'

/** Blobs in the order of their hashes, behind one. */
export const blobsAfter = (hash: string, count: number) =>
  sql<{
    hash: string
    key: string
    thumbhash: string | null
  }>`SELECT hash, key, thumbhash FROM blobs WHERE hash > ${hash} ORDER BY hash ${limit(count)}`

/** The bytes under a hash may have been lost and uploaded again meanwhile: then it has one. */
export const fillThumbhash = (hash: string, key: string, thumbhash: string) => sql`
  UPDATE blobs SET thumbhash = ${thumbhash} WHERE hash = ${hash} AND key = ${key} AND thumbhash IS NULL`

/** Makes a change of all records of an image, so that nobody goes on telling what was read before. */
export const announce = (hash: string) => sql`UPDATE images SET name = name WHERE hash = ${hash}`
