import { limit, sql } from '../../storage/database/sql.ts'

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

export const anyOldTicket = (endedBefore: number) => sql<{ digest: string }>`
  SELECT digest FROM upload_tickets WHERE expires_at < ${endedBefore} LIMIT 1`

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
