import type { Service } from '../http/auth/key-limits.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import { sql } from '../storage/database/sql.ts'
import type { DeliveryMode } from './links/delivery-mode.ts'
import { isInTrash } from './queries.ts'

/** What an application may hold; null for no limit. */
export interface Limits {
  readonly max_bytes: number | null
  readonly max_images: number | null
}

export interface Total {
  readonly images: number
  readonly bytes: number
}

export interface Usage extends Total {
  /** Days since 1970, in UTC. */
  readonly day: number
  readonly mime: string
}

export interface DeliveryRow {
  readonly account_id: number
  readonly name: string
  readonly service: Service
  /** Null if it was never set. */
  readonly mode: DeliveryMode | null
  readonly secret: string | null
}

const deliveryColumns = sql`
  accounts.id AS account_id, accounts.name, accounts.service, delivery.mode, delivery.secret
  FROM accounts LEFT JOIN delivery ON delivery.account_id = accounts.id`

export const findDelivery = (account: string) => sql<DeliveryRow>`
  SELECT ${deliveryColumns} WHERE accounts.name = ${account}`

export const allDelivery = () => sql<DeliveryRow>`
  SELECT ${deliveryColumns} WHERE accounts.service = 'imagestore' ORDER BY accounts.name`

export const setDelivery = (accountId: number, mode: DeliveryMode, secret: string | null) => sql`
  INSERT INTO delivery (account_id, mode, secret) VALUES (${accountId}, ${mode}, ${secret})
  ON CONFLICT (account_id) DO UPDATE SET mode = excluded.mode, secret = excluded.secret`

export const findLimits = (accountId: number) => sql<Limits>`
  SELECT max_bytes, max_images FROM image_limits WHERE account_id = ${accountId}`

export const allLimits = () => sql<Limits & { account_id: number }>`
  SELECT account_id, max_bytes, max_images FROM image_limits`

/** Locks the row until the transaction ends: uploads of an application with limits are serialised. */
export const lockLimits = (dialect: Dialect, accountId: number) =>
  sql<Limits>`${findLimits(accountId)} ${dialect.forUpdate}`

export const setLimits = (accountId: number, { max_bytes, max_images }: Limits) => sql`
  INSERT INTO image_limits (account_id, max_bytes, max_images) VALUES (${accountId}, ${max_bytes}, ${max_images})
  ON CONFLICT (account_id) DO UPDATE SET max_bytes = excluded.max_bytes, max_images = excluded.max_images`

export const findTotal = (accountId: number) => sql<Total>`
  SELECT images, bytes FROM image_totals WHERE account_id = ${accountId}`

/** Usage without images in the trash and expired ones that the sweep has not removed yet. One statement, so that no sweep runs in between. */
export const usageAt = (accountId: number, now: number) => sql<Usage>`
  SELECT day, mime, images, bytes FROM image_usage WHERE account_id = ${accountId} AND images > 0
  UNION ALL
  SELECT images.date / 86400, blobs.mime, -count(*), CAST(-sum(blobs.size) AS bigint)
  FROM images JOIN blobs ON blobs.hash = images.hash
  WHERE images.account_id = ${accountId} AND images.expires <= ${now}
  GROUP BY 1, 2
  UNION ALL
  SELECT images.date / 86400, blobs.mime, -count(*), CAST(-sum(blobs.size) AS bigint)
  FROM images JOIN blobs ON blobs.hash = images.hash
  WHERE ${isInTrash(accountId, now)}
  GROUP BY 1, 2`

/** What an application has in the trash. */
export const trashTotal = (accountId: number, now: number) => sql<Total>`
  SELECT count(*) AS images, CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes
  FROM images WHERE ${isInTrash(accountId, now)}`
