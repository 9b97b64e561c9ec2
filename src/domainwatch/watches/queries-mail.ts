import { empty, limit, sql, type Sql } from '../../storage/database/sql.ts'
import type { Outcome } from '../../deliveries/transport.ts'

/** A mail address, in lower case, and whether its reader wants messages. */
export interface Recipient {
  /** Null until the reader confirms. */
  readonly confirmed_at: number | null
  /** The end of the link to confirm; null until it was sent. */
  readonly expires_at: number | null
  /** Failed attempts to send it. */
  readonly attempts: number
  readonly next_at: number
}

export const recipientOf = (address: string, lock: Sql = empty) => sql<Recipient>`
  SELECT confirmed_at, expires_at, attempts, next_at FROM mail_recipients WHERE address = ${address} ${lock}`

/** Replaces the link of an address. */
export const setLink = (address: string, digest: string) => sql`
  INSERT INTO mail_recipients (address, token_digest) VALUES (${address}, ${digest})
  ON CONFLICT (address) DO UPDATE SET token_digest = excluded.token_digest`

export interface AskedRecipient {
  readonly expiresAt: number | null
  readonly attempts: number
  readonly nextAt: number
}

export const setAsked = (address: string, { expiresAt, attempts, nextAt }: AskedRecipient) => sql`
  UPDATE mail_recipients SET expires_at = ${expiresAt}, attempts = ${attempts}, next_at = ${nextAt}
  WHERE address = ${address} AND confirmed_at IS NULL`

const hasLink = (digest: string, now: number) =>
  sql`token_digest = ${digest} AND (expires_at IS NULL OR expires_at > ${now})`

export const recipientByLink = (digest: string, now: number) => sql<{
  address: string
  confirmed_at: number | null
}>`
  SELECT address, confirmed_at FROM mail_recipients WHERE ${hasLink(digest, now)}`

export const confirmRecipient = (digest: string, now: number) => sql`
  UPDATE mail_recipients SET confirmed_at = coalesce(confirmed_at, ${now}) WHERE ${hasLink(digest, now)}`

/** Shows the owners of watches why the link could not be sent to an address. @param isGivenUp whether it is not tried again */
export const noteAsked = (address: string, outcome: Outcome, isGivenUp: boolean, now: number) => sql`
  UPDATE watch_destinations SET state = ${isGivenUp ? 'dead' : 'active'},
    last_error = ${outcome.kind === 'delivered' ? null : outcome.error},
    last_error_at = ${outcome.kind === 'delivered' ? null : now}
  WHERE channel = 'mailto' AND lower(address) = ${address}`

/** Forgets an address whose link expired, so that it is asked once more. */
export const forgetUnconfirmed = (address: string, now: number) => sql`
  DELETE FROM mail_recipients WHERE address = ${address} AND confirmed_at IS NULL AND expires_at <= ${now}`

export const countMail = (id: string, accountId: number, address: string, at: number) => sql`
  INSERT INTO sent_mails (id, account_id, address, at) VALUES (${id}, ${accountId}, ${address}, ${at})`

/** Selects the time of the mail by which an address reached `count` mails since a time. */
export const mailOfAddress = (address: string, since: number, count: number) => sql<{ at: number }>`
  SELECT at FROM sent_mails WHERE address = ${address} AND at > ${since} ORDER BY at DESC ${limit(1)} OFFSET ${count - 1}`

/** The same for an account. */
export const mailOfAccount = (accountId: number, since: number, count: number) => sql<{ at: number }>`
  SELECT at FROM sent_mails WHERE account_id = ${accountId} AND at > ${since} ORDER BY at DESC ${limit(1)} OFFSET ${count - 1}`

export const anyOldMail = (before: number) => sql<{ id: string }>`
  SELECT id FROM sent_mails WHERE at <= ${before} LIMIT 1`

export const deleteOldMails = (before: number, count: number) => sql`
  DELETE FROM sent_mails WHERE id IN (SELECT id FROM sent_mails WHERE at <= ${before} ORDER BY at ${limit(count)})`

/** Deletes addresses that no watch has any more. */
export const deleteUnusedRecipients = (before: number) => sql`
  DELETE FROM mail_recipients WHERE expires_at <= ${before} AND NOT EXISTS (
    SELECT 1 FROM watch_destinations AS d WHERE d.channel = 'mailto' AND lower(d.address) = mail_recipients.address)`
