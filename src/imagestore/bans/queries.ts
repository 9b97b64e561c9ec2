import { sql } from '../../storage/database/sql.ts'

/** A picture that an application refuses. */
export interface Ban {
  /** Hash of the refused bytes. */
  readonly hash: string | null
  /** Difference hash of the refused pictures. */
  readonly dhash: string | null
  /** Most bits in which the dhash of such a picture differs. */
  readonly distance: number
}

export interface BanRow extends Ban {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly created_at: number
}

/** Unordered: an application has few. */
export const allBans = (accountId: number) => sql<BanRow>`
  SELECT id, hash, dhash, distance, created_at FROM image_bans WHERE account_id = ${accountId}`

export const insertBan = (accountId: number, { id, hash, dhash, distance, created_at }: BanRow) => sql`
  INSERT INTO image_bans (account_id, id, hash, dhash, distance, created_at)
  VALUES (${accountId}, ${id}, ${hash}, ${dhash}, ${distance}, ${created_at})`

export const deleteBan = (accountId: number, id: string) => sql`
  DELETE FROM image_bans WHERE account_id = ${accountId} AND id = ${id}`
