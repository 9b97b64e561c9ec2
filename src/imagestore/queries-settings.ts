import { sql, limit } from '../storage/database/sql.ts'
import type { DestinationRow } from '../deliveries/queries.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import type { Service } from '../http/auth/key-limits.ts'
import type { DeliveryMode } from './links/link.ts'
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
  readonly service: Service
  /** Null if it was never set. */
  readonly mode: DeliveryMode | null
  readonly secret: string | null
}

export const findDelivery = (account: string) => sql<DeliveryRow>`
  SELECT accounts.id AS account_id, accounts.service, delivery.mode, delivery.secret
  FROM accounts LEFT JOIN delivery ON delivery.account_id = accounts.id WHERE accounts.name = ${account}`

/** Selects the applications with their limits, by name. */
export const allDelivery = () => sql<
  Pick<DeliveryRow, 'mode' | 'secret'> & Limits & { readonly name: string }
>`
  SELECT accounts.name, delivery.mode, delivery.secret, max_bytes, max_images
  FROM accounts LEFT JOIN delivery ON delivery.account_id = accounts.id
  LEFT JOIN image_limits ON image_limits.account_id = accounts.id
  WHERE accounts.service = 'imagestore' ORDER BY accounts.name`

export const setDelivery = (accountId: number, mode: DeliveryMode, secret: string | null) => sql`
  INSERT INTO delivery (account_id, mode, secret) VALUES (${accountId}, ${mode}, ${secret})
  ON CONFLICT (account_id) DO UPDATE SET mode = excluded.mode, secret = excluded.secret`

export const findLimits = (accountId: number) => sql<Limits>`
  SELECT max_bytes, max_images FROM image_limits WHERE account_id = ${accountId}`

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

export const trashTotal = (accountId: number, now: number) => sql<Total>`
  SELECT count(*) AS images, CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes
  FROM images WHERE ${isInTrash(accountId, now)}`

/** The image of an alias, expired or not. */
export const aliasTarget = (account: string, name: string) => sql<{ account_id: number; hash: string }>`
  SELECT image_aliases.account_id, image_aliases.hash
  FROM accounts JOIN image_aliases ON image_aliases.account_id = accounts.id
  WHERE accounts.name = ${account} AND image_aliases.name = ${name}`

export const setAlias = (accountId: number, name: string, hash: string) => sql`
  INSERT INTO image_aliases (account_id, name, hash) VALUES (${accountId}, ${name}, ${hash})
  ON CONFLICT (account_id, name) DO UPDATE SET hash = excluded.hash`

export const removeAlias = (accountId: number, name: string) => sql`
  DELETE FROM image_aliases WHERE account_id = ${accountId} AND name = ${name}`

/** @param after the last name of the page before */
export const aliasPage = (accountId: number, after: string, count: number) => sql<{
  name: string
  hash: string
}>`
  SELECT name, hash FROM image_aliases WHERE account_id = ${accountId} AND name > ${after} ORDER BY name ${limit(count)}`

export interface Ban {
  readonly hash: string | null
  readonly dhash: string | null
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

export type DefinitionKind = 'preset' | 'watermark'

export interface DefinitionRow {
  readonly kind: DefinitionKind
  readonly name: string
  /** Modifiers of a preset, JSON of a watermark. */
  readonly value: string
}

export const allDefinitions = () => sql<DefinitionRow>`
  SELECT kind, name, value FROM image_definitions ORDER BY kind, name`

export const countOthers = (kind: DefinitionKind, name: string) => sql<{ count: number }>`
  SELECT count(*) AS count FROM image_definitions WHERE kind = ${kind} AND name <> ${name}`

export const setDefinition = ({ kind, name, value }: DefinitionRow) => sql`
  INSERT INTO image_definitions (kind, name, value) VALUES (${kind}, ${name}, ${value})
  ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value`

export const removeDefinition = (kind: DefinitionKind, name: string) => sql`
  DELETE FROM image_definitions WHERE kind = ${kind} AND name = ${name}`

/** A change of the topic that links depend on: all nodes read the definitions again. */
export const announceDefinition = ({ now }: Dialect, name: string) => sql`
  INSERT INTO changes (at, topic, kind, key) SELECT ${now}, 'account', 'changed', CAST(${name} AS TEXT)`

/** A hook is a watch of the application with a webhook and no other destination. */
export interface HookRow extends Omit<DestinationRow, 'watch_id' | 'channel' | 'confirmed'> {
  readonly filters: string
  readonly created_at: number
}

/** A cross join keeps SQLite from reading the destinations of all watches. */
export const findHooks = (accountId: number) => sql<HookRow>`
  SELECT watches.id, watches.filters, watches.created_at, d.address, d.state, d.attempts, d.next_at, d.delivered_at,
    d.last_error, d.last_error_at, d.delivery_id
  FROM watches CROSS JOIN watch_destinations AS d
  WHERE d.watch_id = watches.id AND watches.account_id = ${accountId} ORDER BY watches.created_at, watches.id`

export const deleteHook = (accountId: number, id: string) => sql`
  DELETE FROM watches WHERE id = ${id} AND account_id = ${accountId}`

export interface TicketRow {
  readonly digest: string
  readonly account_id: number
  /** ID of the key that created the ticket. */
  readonly key_id: string
  /** Milliseconds since 1970. */
  readonly expires_at: number
  readonly uses_left: number
  readonly refusals: number
  /** JSON. */
  readonly terms: string
}

export type TicketTermsRow = Pick<TicketRow, 'digest' | 'account_id' | 'terms'>

export const insertTicket = (ticket: Omit<TicketRow, 'refusals'>) => sql`
  INSERT INTO upload_tickets (digest, account_id, key_id, expires_at, uses_left, terms)
  VALUES (${ticket.digest}, ${ticket.account_id}, ${ticket.key_id}, ${ticket.expires_at}, ${ticket.uses_left}, ${ticket.terms})`

/** A ticket, unless the key that created it was revoked. */
export const ticketOf = (digest: string) => sql<TicketRow>`
  SELECT upload_tickets.digest, upload_tickets.account_id, key_id, upload_tickets.expires_at, uses_left, refusals, terms
  FROM upload_tickets LEFT JOIN keys ON keys.id = upload_tickets.key_id
  WHERE upload_tickets.digest = ${digest} AND keys.revoked_at IS NULL`

/** Takes a use, if one is left. Of uploads at the same time on all nodes, each takes its own. */
export const takeUse = (digest: string, maxRefusals: number) => sql`
  UPDATE upload_tickets SET uses_left = uses_left - 1
  WHERE digest = ${digest} AND uses_left > 0 AND refusals < ${maxRefusals}`

/** @param refusals 1 if the upload was refused, 0 if it failed for a reason that is not the client's */
export const giveUseBack = (digest: string, refusals: 0 | 1) => sql`
  UPDATE upload_tickets SET uses_left = uses_left + 1, refusals = refusals + ${refusals}
  WHERE digest = ${digest}`

export const deleteOldTickets = (endedBefore: number) => sql`
  DELETE FROM upload_tickets WHERE expires_at < ${endedBefore}`

export interface UploadRow {
  readonly id: string
  /** Digest of its ticket. */
  readonly ticket: string
  readonly account_id: number
  readonly length: number
  readonly name: string | null
  readonly received: number
  /** JSON. */
  readonly parts: string
  /** Milliseconds since 1970. */
  readonly expires_at: number
  /** JSON. */
  readonly answer: string | null
}

/** Unfinished uploads of a ticket, and the bytes of those of its application. */
export const unfinished = (accountId: number, ticket: string, now: number) => sql<{
  readonly uploads: number
  readonly bytes: number
}>`
  SELECT count(CASE WHEN ticket = ${ticket} AND expires_at > ${now} THEN 1 END) AS uploads,
    CAST(coalesce(sum(length), 0) AS bigint) AS bytes
  FROM ticket_uploads WHERE account_id = ${accountId} AND answer IS NULL`

export const insertUpload = (upload: Omit<UploadRow, 'received' | 'parts' | 'answer'>) => sql`
  INSERT INTO ticket_uploads (id, ticket, account_id, length, name, expires_at)
  VALUES (${upload.id}, ${upload.ticket}, ${upload.account_id}, ${upload.length}, ${upload.name}, ${upload.expires_at})`

/** An upload with its ticket, unless the key that created that was revoked. */
export const uploadById = (ticket: string, id: string) => sql<
  UploadRow & { readonly terms: string; readonly ticket_expires_at: number }
>`
  SELECT ticket_uploads.id, ticket, ticket_uploads.account_id, length, ticket_uploads.name, received, parts,
    ticket_uploads.expires_at, answer, terms, upload_tickets.expires_at AS ticket_expires_at
  FROM ticket_uploads JOIN upload_tickets ON upload_tickets.digest = ticket
  LEFT JOIN keys ON keys.id = upload_tickets.key_id
  WHERE ticket_uploads.id = ${id} AND ticket = ${ticket} AND keys.revoked_at IS NULL`

/** Appends to an upload that has still received as much. Of requests at the same time on all nodes, one does. */
export const appendPart = (
  id: string,
  before: number,
  { received, parts, expiresAt }: { received: number; parts: string; expiresAt: number },
) => sql`
  UPDATE ticket_uploads SET received = ${received}, parts = ${parts}, expires_at = ${expiresAt}
  WHERE id = ${id} AND received = ${before} AND answer IS NULL`

export const endUpload = (id: string, answer: string, expiresAt: number) => sql`
  UPDATE ticket_uploads SET answer = ${answer}, expires_at = ${expiresAt} WHERE id = ${id} AND answer IS NULL`

export const oldUploads = (now: number, count: number) => sql<UploadRow>`
  SELECT id, ticket, account_id, length, name, received, parts, expires_at, answer FROM ticket_uploads
  WHERE expires_at <= ${now} ORDER BY expires_at ${limit(count)}`

/** Removes an upload, unless it has ended. */
export const deleteUnendedUpload = (id: string) => sql`
  DELETE FROM ticket_uploads WHERE id = ${id} AND answer IS NULL`

/** Removes an upload, unless it was continued or has ended since it was found. */
export const deleteOldUpload = (id: string, now: number) => sql`
  DELETE FROM ticket_uploads WHERE id = ${id} AND expires_at <= ${now}`
