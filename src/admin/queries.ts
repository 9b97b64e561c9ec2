import { sql } from '../storage/database/sql.ts'

export interface StorageRow {
  readonly account_id: number
  readonly images: number
  readonly bytes: number
}

/** What each account of image hosting holds; shared bytes count for each that holds them. */
export const storageByAccount = () => sql<StorageRow>`SELECT account_id, images, bytes FROM image_totals`

/** What the store holds: bytes that several accounts hold are there once. */
export const storageInAll = () => sql<{ images: number; bytes: number }>`
  SELECT count(*) AS images, CAST(COALESCE(sum(size), 0) AS BIGINT) AS bytes FROM blobs`

export const countDomains = () => sql<{ count: number }>`SELECT count(*) AS count FROM domains`
