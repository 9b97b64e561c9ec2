import { type Cursor, DOMAIN_FIELDS } from '../../storage/database/changes/change.ts'
import { hasKey, isAccessible, type WatchProperties } from '../../deliveries/queries.ts'
import { empty, limit, sql, type Sql, raw } from '../../storage/database/sql.ts'
import type { Outcome } from '../../deliveries/transport.ts'
import { isOneOf, type Dialect } from '../../storage/database/dialect.ts'

/** A watch as members see it. */
export interface WatchRow extends WatchProperties {
  readonly id: string
  readonly account_id: number
  /** Name of the account that created it. */
  readonly owner: string
  readonly created_at: number
  readonly feed_digest: string | null
  readonly shared: number
  readonly paused: number
}

/** A watch as the notifier of its Atom feed needs it. */
export interface AtomFeedState extends Pick<WatchProperties, 'filters' | 'changes' | 'language'> {
  readonly id: string
  readonly account_id: number
  /** Counts the edits. */
  readonly version: number
  readonly feed_cursor: Cursor | null
  readonly feed: string | null
}

const SHOWN = sql`watches.id AS id, account_id, accounts.name AS owner, watches.name AS name, filters, changes,
    watches.created_at AS created_at, feed_digest, shared, paused, language, digest
  FROM watches JOIN accounts ON accounts.id = account_id`

/** Selects the watches of an account and those that others share. */
export const watchesFor = (accountId: number, count: number) => sql<WatchRow>`
  SELECT ${SHOWN} WHERE account_id = ${accountId}
  UNION ALL SELECT ${SHOWN} WHERE shared = 1 AND account_id <> ${accountId}
  ORDER BY created_at, id ${limit(count)}`

/** A watch as edits need it. */
export interface EditableWatch extends WatchProperties {
  readonly id: string
  readonly account_id: number
  readonly secret: string | null
  readonly feed_digest: string | null
  readonly shared: number
  readonly paused: number
}

export const accessibleWatch = (accountId: number, id: string, lock: Sql = empty) => sql<EditableWatch>`
  SELECT id, account_id, name, filters, changes, secret, feed_digest, shared, paused, language, digest FROM watches
  WHERE id = ${id} AND ${isAccessible(accountId)} ${lock}`

export const countShared = () =>
  sql<{ count: number }>`SELECT count(*) AS count FROM watches WHERE shared = 1`

export type UpdatedWatch = Omit<EditableWatch, 'account_id' | 'feed_digest'>

/** Without a webhook no secret signs. */
export const updateWatch = (watch: UpdatedWatch) => sql`
  UPDATE watches SET version = version + 1, name = ${watch.name}, filters = ${watch.filters}, changes = ${watch.changes},
    shared = ${watch.shared}, paused = ${watch.paused}, language = ${watch.language}, digest = ${watch.digest},
    secret = ${watch.secret}
    ${watch.secret === null ? sql`, previous_secret = NULL, previous_secret_until = NULL` : empty}
  WHERE id = ${watch.id}`

export const replaceSecret = (id: string, secret: string, previousUntil: number) => sql`
  UPDATE watches SET version = version + 1, previous_secret = secret, previous_secret_until = ${previousUntil},
    secret = ${secret}
  WHERE id = ${id}`

export const addAtomFeed = (id: string, digest: string, cursor: string) => sql`
  UPDATE watches SET feed_digest = ${digest}, feed_cursor = ${cursor}, feed = '[]' WHERE id = ${id}`

export const removeAtomFeed = (id: string) => sql`
  UPDATE watches SET feed_digest = NULL, feed_cursor = NULL, feed = NULL WHERE id = ${id}`

export const skipAtomFeedTo = (id: string, cursor: string) => sql`
  UPDATE watches SET feed_cursor = ${cursor} WHERE id = ${id} AND feed_digest IS NOT NULL`

export const deleteWatch = (id: string) => sql`DELETE FROM watches WHERE id = ${id}`

export const atomFeedById = (id: string) => sql<AtomFeedState>`
  SELECT id, account_id, version, filters, changes, language, feed_cursor, feed FROM watches WHERE id = ${id}`

/** Selects the watches whose Atom feeds need a notifier. */
export const atomFeedsToNotify = (now: number) => sql<{ id: string; version: number }>`
  SELECT id, version FROM watches WHERE feed_digest IS NOT NULL AND paused = 0 AND ${hasKey(now)}`

export interface AtomFeedRow extends Pick<WatchProperties, 'name' | 'filters' | 'language'> {
  readonly id: string
  readonly feed: string
}

export const atomFeedByDigest = (digest: string, now: number) => sql<AtomFeedRow>`
  SELECT id, name, filters, language, feed FROM watches WHERE feed_digest = ${digest} AND ${hasKey(now)}`

/** Changes no row if the watch was edited or paused since it was at `version`. */
export const storeAtomFeed = (id: string, version: number, feed: string, cursor: string) => sql`
  UPDATE watches SET feed = ${feed}, feed_cursor = ${cursor} WHERE id = ${id} AND version = ${version} AND paused = 0`

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

export const findRecipient = (address: string, lock: Sql = empty) => sql<Recipient>`
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

/** The last record, in the order of registrations, that was reported this number of days before the end. */
export interface ReminderState {
  readonly days: number
  readonly last_date: string
  readonly last_name: string
}

/** Begins with registrations after a date, unless these reminders have begun. */
export const beginReminders = (days: number, after: string) => sql`
  INSERT INTO reminders (days, last_date, last_name) VALUES (${days}, ${after}, '') ON CONFLICT (days) DO NOTHING`

export const allReminders = () => sql<ReminderState>`SELECT days, last_date, last_name FROM reminders`

export const reminderState = (days: number, lock: Sql = empty) => sql<ReminderState>`
  SELECT days, last_date, last_name FROM reminders WHERE days = ${days} ${lock}`

export const endReminders = (days: number) => sql`DELETE FROM reminders WHERE days = ${days}`

export const advanceReminders = ({ days, last_date, last_name }: ReminderState) => sql`
  UPDATE reminders SET last_date = ${last_date}, last_name = ${last_name} WHERE days = ${days}`

/** The filters of watches that remind, as they are stored. In a value, the quotes of the name would be escaped. */
export const remindingFilters = () => sql<{ filters: string }>`
  SELECT filters FROM watches WHERE filters LIKE ${'%"remind":"%'}`

export interface DueRecord {
  readonly name: string
  readonly date_reg: string
  readonly status_at: string | null
}

/** Selects bought records after the last one, registered in a span, both ends included. */
export const dueRecords = (
  { last_date, last_name }: ReminderState,
  { since, until }: { readonly since: string; readonly until: string },
  count: number,
) => sql<DueRecord>`
  SELECT name, date_reg, status_at FROM domains
  WHERE status = 1 AND date_reg_known = 1 AND date_reg >= ${since} AND date_reg <= ${until}
    AND (date_reg, name) > (${last_date}, ${last_name})
  ORDER BY date_reg, name ${limit(count)}`

/** Adds changes of the topic `objection` to the change log, at a time of the service's clock. */
export const insertReminders = (dialect: Dialect, days: number, names: readonly string[], now: number) => sql`
  INSERT INTO changes (at, topic, kind, key, after)
  SELECT CAST(${now} AS BIGINT), 'objection', CAST(${String(days)} AS TEXT), name,
    ${dialect.jsonArray(DOMAIN_FIELDS.map((column) => raw(column)))}
  FROM domains WHERE ${isOneOf(dialect, sql`name`, names)} ORDER BY date_reg, name`

/** Returns a row if any name may have to be looked up again. Tags are left to the caller, who knows which. */
export const anyToCheck = () => sql<{ found: number }>`
  SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM domains WHERE revision = 1)
    OR EXISTS (SELECT 1 FROM watches WHERE ${asksForChecks})`

/** The flag in the JSON of the filters; in a value, its quotes would be escaped. */
const asksForChecks: Sql = sql`filters LIKE ${'%"dns":"1"%'}`

/** A watch whose names are looked up again. */
export interface DnsWatch {
  readonly account_id: number
  /** As stored. */
  readonly filters: string
}

export const dnsWatches = (now: number) => sql<DnsWatch>`
  SELECT account_id, filters FROM watches WHERE ${asksForChecks} AND ${hasKey(now)} ORDER BY id`
