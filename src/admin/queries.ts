import { sql } from '../storage/database/sql.ts'

export interface StorageRow {
  readonly account_id: number
  readonly images: number
  readonly bytes: number
}

/** Images and bytes of each account of image hosting. Shared bytes count for each account. */
export const storageByAccount = () => sql<StorageRow>`SELECT account_id, images, bytes FROM image_totals`

/** Images and bytes in the store. Shared bytes count once. */
export const totalStorage = () => sql<{ images: number; bytes: number }>`
  SELECT count(*) AS images, CAST(COALESCE(sum(size), 0) AS BIGINT) AS bytes FROM blobs`

export const countDomains = () => sql<{ count: number }>`SELECT count(*) AS count FROM domains`
