import { sql, limit } from '../storage/database/sql.ts'

export const firstAccount = () => sql<{ name: string; created_at: number }>`
  SELECT name, created_at FROM accounts ORDER BY id LIMIT 1`

/** Pages in the order of a primary key, each starting after the previous one. */

export const blobsAfter = (hash: string, count: number) => sql<{
  readonly hash: string
  readonly key: string
  readonly size: number
  readonly width: number
  readonly height: number
  readonly frames: number
  readonly dhash: string
  readonly is_held: number
  readonly is_trash: number
}>`
  SELECT hash, key, size, width, height, frames, dhash,
    CASE WHEN EXISTS (SELECT 1 FROM images WHERE images.hash = blobs.hash) THEN 1 ELSE 0 END AS is_held,
    CASE WHEN EXISTS (SELECT 1 FROM blob_trash WHERE blob_trash.key = blobs.key) THEN 1 ELSE 0 END AS is_trash
  FROM blobs WHERE hash > ${hash} ORDER BY hash ${limit(count)}`

export const imagesAfter = (accountId: number, hash: string, count: number) => sql<{
  readonly account_id: number
  readonly hash: string
  readonly name: string
  readonly name_folded: string
  readonly blob: string | null
  readonly service: string | null
}>`
  SELECT images.account_id, images.hash, images.name, images.name_folded, blobs.hash AS blob, accounts.service
  FROM images
  LEFT JOIN blobs ON blobs.hash = images.hash
  LEFT JOIN accounts ON accounts.id = images.account_id
  WHERE (images.account_id, images.hash) > (${accountId}, ${hash})
  ORDER BY images.account_id, images.hash ${limit(count)}`

export const domainsAfter = (name: string, count: number) => sql<{
  readonly name: string
  readonly ascii: string | null
  readonly length: number
  readonly agent: string
  readonly agent_folded: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  readonly date_reg: string
  readonly date_mod: string
  readonly released_at: string | null
  readonly deleted_at: string | null
  readonly discarded_at: number | null
  readonly seen_at: number | null
  readonly seen_by: string | null
  readonly tags: string | null
  readonly words: string | null
}>`
  SELECT name, ascii, length, agent, agent_folded, status, reserved, revision, date_reg, date_mod, released_at,
    deleted_at, discarded_at, seen_at, seen_by, tags, words
  FROM domains WHERE name > ${name} ORDER BY name ${limit(count)}`

export const keysWithoutAccount = () => sql<{ readonly id: string }>`
  SELECT keys.id FROM keys LEFT JOIN accounts ON accounts.id = keys.account_id WHERE accounts.id IS NULL`

/** Whether a blob still has this key. */
export const blobWithKey = (hash: string, key: string) => sql<{ readonly size: number }>`
  SELECT size FROM blobs WHERE hash = ${hash} AND key = ${key}`
