import { sql } from '../../storage/database/sql.ts'

export interface TicketRow {
  readonly digest: string
  readonly account_id: number
  /** Of the key that created it. */
  readonly key_id: string
  /** Milliseconds since 1970. */
  readonly expires_at: number
  readonly uses_left: number
  readonly refusals: number
  /** JSON. */
  readonly terms: string
}

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
