import { empty, limit, sql, type Sql } from '../storage/database/sql.ts'
import type { Cursor } from '../storage/database/changes/change.ts'
import type { ChannelName, Destination } from './transport.ts'
import type { Secrets } from './webhook.ts'

/** The services whose accounts have watches. Those of imagestore are the hooks of applications. */
export type WatchService = 'domainwatch' | 'imagestore'

/** What a watch looks for, and how it is reported. */
export interface WatchProperties {
  readonly name: string
  readonly filters: string
  readonly changes: string
  readonly language: string
  /** HH:MM; null for immediate messages. */
  readonly digest: string | null
}

/** True if the account has a valid key. Without one it is no longer notified. */
export const hasKey = (now: number): Sql => sql`EXISTS (
  SELECT 1 FROM keys WHERE keys.account_id = watches.account_id AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > ${now}))`

/** True for watches of accounts of a service. */
const isOfService = (service: WatchService): Sql =>
  sql`EXISTS (SELECT 1 FROM accounts WHERE accounts.id = watches.account_id AND service = ${service})`

/** True for the account that created a watch and, if it is shared, for every other. */
export const isAccessible = (accountId: number): Sql =>
  sql`(watches.account_id = ${accountId} OR watches.shared = 1)`

export const countWatches = (accountId: number) => sql<{ count: number }>`
  SELECT count(*) AS count FROM watches WHERE account_id = ${accountId}`

export interface NewWatch extends Pick<WatchProperties, 'name' | 'filters' | 'changes' | 'language'> {
  readonly id: string
  readonly account_id: number
  readonly secret: string | null
}

/** Inserts a watch without destinations, which the same transaction adds. */
export const insertWatch = (
  { id, account_id, name, filters, changes, language, secret }: NewWatch,
  now: number,
) => sql`
  INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, language, secret)
  VALUES (${id}, ${account_id}, ${name}, ${filters}, ${changes}, ${now}, 'active', ${language}, ${secret})`

export const anyWatch = (service: WatchService) => sql<{ id: string }>`
  SELECT id FROM watches WHERE ${isOfService(service)} LIMIT 1`

/** `pending`: being tried. `failed`: given up. A delivery that arrived once stays `delivered`. */
export type DeliveryState = 'pending' | 'delivered' | 'failed'

/** A delivery as members see it. Its attempts have the same id and body. */
export interface DeliveryRow {
  /** Counts the deliveries of a watch. */
  readonly number: number
  readonly id: string
  readonly channel: string
  readonly created_at: number
  readonly events: number
  readonly state: DeliveryState
  readonly attempts: number
  /** Outcome of the last attempt, like the next two. */
  readonly code: number | null
  readonly duration_ms: number | null
  readonly error: string | null
  readonly has_body: number
  /** When a replay was requested; null if none is pending. */
  readonly replay_at: number | null
}

/**
 * Numbers the next delivery of a watch, in the order of commits, so that cursors are exact. Changes no row if the watch was edited
 * or paused since it was at `version`, or its account has no valid key.
 */
export const countDelivery = (watchId: string, version: number, now: number) => sql<{ deliveries: number }>`
  UPDATE watches SET deliveries = deliveries + 1
  WHERE id = ${watchId} AND version = ${version} AND paused = 0 AND ${hasKey(now)}
  RETURNING deliveries`

export interface LoggedDelivery {
  readonly watchId: string
  readonly number: number
  readonly id: string
  readonly destinationId: string
  readonly channel: string
  readonly now: number
  readonly events: number
  readonly body: string
}

export const insertDelivery = (one: LoggedDelivery) => sql`
  INSERT INTO watch_deliveries (watch_id, number, id, destination_id, channel, created_at, events, state, body)
  VALUES (${one.watchId}, ${one.number}, ${one.id}, ${one.destinationId}, ${one.channel}, ${one.now}, ${one.events},
    'pending', ${one.body})`

export const deleteUpTo = (watchId: string, number: number) => sql`
  DELETE FROM watch_deliveries WHERE watch_id = ${watchId} AND number <= ${number}`

/** Without its body a delivery cannot be sent again. */
export const dropBody = (watchId: string, number: number) => sql`
  UPDATE watch_deliveries SET body = NULL, replay_at = NULL WHERE watch_id = ${watchId} AND number = ${number}`

export interface Attempt {
  readonly state: DeliveryState
  readonly code: number | undefined
  readonly ms: number
  readonly error: string | null
}

const ATTEMPT = ({ code, ms, error }: Attempt) => sql`
  attempts = attempts + 1, code = ${code ?? null}, duration_ms = ${ms}, error = ${error}`

export const logAttempt = (id: string, attempt: Attempt) => sql`
  UPDATE watch_deliveries SET state = ${attempt.state}, ${ATTEMPT(attempt)} WHERE id = ${id}`

export const logReplay = (id: string, attempt: Attempt) => sql`
  UPDATE watch_deliveries SET state = CASE state WHEN 'delivered' THEN state ELSE ${attempt.state} END,
    replay_at = NULL, ${ATTEMPT(attempt)}
  WHERE id = ${id}`

/** A page, newest first. */
export const deliveriesOf = (
  watchId: string,
  since: number,
  before: number | undefined,
  count: number,
) => sql<DeliveryRow>`
  SELECT number, id, channel, created_at, events, state, attempts, code, duration_ms, error, replay_at,
    CASE WHEN body IS NULL THEN 0 ELSE 1 END AS has_body
  FROM watch_deliveries
  WHERE watch_id = ${watchId} ${before === undefined ? empty : sql`AND number < ${before}`} AND created_at > ${since}
  ORDER BY number DESC ${limit(count)}`

export interface StoredDelivery {
  readonly destination_id: string
  readonly has_body: number
  readonly replay_at: number | null
}

export const findDelivery = (watchId: string, id: string, since: number) => sql<StoredDelivery>`
  SELECT destination_id, replay_at, CASE WHEN body IS NULL THEN 0 ELSE 1 END AS has_body
  FROM watch_deliveries WHERE id = ${id} AND watch_id = ${watchId} AND created_at > ${since}`

/** A cross join keeps SQLite from reading the replays that wait for all watches. */
export const countReplays = (watchId: string) => sql<{ count: number }>`
  SELECT count(*) AS count FROM watch_destinations AS d CROSS JOIN watch_deliveries AS w
  WHERE d.watch_id = ${watchId} AND w.destination_id = d.id AND w.replay_at IS NOT NULL`

export const requestReplay = (id: string, now: number) => sql`
  UPDATE watch_deliveries SET replay_at = ${now} WHERE id = ${id}`

/** Makes the next attempt of a pending delivery due. Changes no row if another delivery is pending. */
export const hastenDelivery = (destinationId: string, id: string) => sql`
  UPDATE watch_destinations SET state = 'active', next_at = 0, resumes = resumes + 1
  WHERE id = ${destinationId} AND delivery_id = ${id}`

export const destinationExists = (id: string) => sql<{ id: string }>`
  SELECT id FROM watch_destinations WHERE id = ${id}`

/** Selects the destinations for which replays wait. */
export const destinationsToReplay = (service: WatchService, now: number) => sql<{
  id: string
  version: number
}>`
  SELECT d.id, watches.version FROM watch_destinations AS d JOIN watches ON watches.id = d.watch_id
  WHERE d.id IN (SELECT destination_id FROM watch_deliveries WHERE replay_at IS NOT NULL)
    AND ${isOfService(service)} AND ${hasKey(now)}`

export interface Replay {
  readonly id: string
  readonly body: string
}

export const nextReplay = (destinationId: string) => sql<Replay>`
  SELECT id, body FROM watch_deliveries WHERE destination_id = ${destinationId} AND replay_at IS NOT NULL
  ORDER BY replay_at, number LIMIT 1`

export const anyOldDelivery = (before: number) => sql<{ id: string }>`
  SELECT id FROM watch_deliveries WHERE created_at <= ${before} LIMIT 1`

export const deleteOldDeliveries = (before: number, count: number) => sql`
  DELETE FROM watch_deliveries WHERE id IN (
    SELECT id FROM watch_deliveries WHERE created_at <= ${before} ORDER BY created_at ${limit(count)})`

export const anyExpiredSecret = (now: number) => sql<{ id: string }>`
  SELECT id FROM watches WHERE previous_secret_until <= ${now} LIMIT 1`

export const forgetExpiredSecrets = (now: number) => sql`
  UPDATE watches SET previous_secret = NULL, previous_secret_until = NULL WHERE previous_secret_until <= ${now}`

/** A destination as the members of its account see it. */
export interface DestinationRow {
  readonly id: string
  readonly watch_id: string
  readonly channel: ChannelName
  readonly address: string
  readonly state: 'active' | 'dead'
  readonly attempts: number
  readonly next_at: number
  readonly delivered_at: number | null
  readonly last_error: string | null
  readonly last_error_at: number | null
  readonly delivery_id: string | null
  /** Whether the reader of the address confirmed it; only mail addresses have to be confirmed. */
  readonly confirmed: number
}

/** A destination and its watch, as notifiers need them. Without a pending delivery, `next_at` is the time of the next digest, or 0. */
export interface DestinationState extends WatchProperties, Secrets {
  readonly id: string
  readonly channel: ChannelName
  readonly address: string
  readonly cursor: Cursor
  readonly delivery_id: string | null
  readonly delivery_body: string | null
  readonly delivery_cursor: Cursor | null
  readonly delivery_events: number | null
  readonly attempts: number
  readonly next_at: number
  readonly watch_id: string
  readonly account_id: number
  /** Counts the edits of the watch. */
  readonly version: number
}

const STATE = sql`d.id, d.channel, d.address, d.cursor, d.delivery_id, d.delivery_body, d.delivery_cursor, d.attempts,
    d.next_at, d.watch_id, watches.account_id, watches.name, watches.filters, watches.changes, watches.language, watches.digest, watches.version, watches.secret,
    watches.previous_secret, watches.previous_secret_until,
    (SELECT events FROM watch_deliveries AS w WHERE w.id = d.delivery_id) AS delivery_events
  FROM watch_destinations AS d JOIN watches ON watches.id = d.watch_id`

export interface NewDestination {
  readonly id: string
  readonly watchId: string
  readonly position: number
  readonly channel: string
  readonly address: string
  readonly cursor: string
}

export const insertDestination = (one: NewDestination) => sql`
  INSERT INTO watch_destinations (id, watch_id, position, channel, address, state, cursor)
  VALUES (${one.id}, ${one.watchId}, ${one.position}, ${one.channel}, ${one.address}, 'active', ${one.cursor})`

/** Only the readers of mail addresses have to confirm. */
const CONFIRMED = sql`CASE WHEN d.channel = 'mailto' AND r.confirmed_at IS NULL THEN 0 ELSE 1 END AS confirmed`
const RECIPIENT = sql`LEFT JOIN mail_recipients AS r ON d.channel = 'mailto' AND r.address = lower(d.address)`

/** A cross join keeps SQLite from reading the destinations of all watches. */
const SHOWN = sql`d.id, d.watch_id AS watch_id, d.channel, d.address, d.state, d.attempts, d.next_at, d.delivered_at,
    d.last_error, d.last_error_at, d.delivery_id, d.position AS position, ${CONFIRMED}
  FROM watches CROSS JOIN watch_destinations AS d ${RECIPIENT} WHERE d.watch_id = watches.id`

/** Selects the destinations of the watches that an account lists. */
export const destinationsFor = (accountId: number, count: number) => sql<DestinationRow>`
  SELECT ${SHOWN} AND watches.account_id = ${accountId}
  UNION ALL SELECT ${SHOWN} AND watches.shared = 1 AND watches.account_id <> ${accountId}
  ORDER BY watch_id, position ${limit(count)}`

export const destinationsOfWatch = (accountId: number, watchId: string) => sql<DestinationState>`
  SELECT ${STATE} WHERE d.watch_id = ${watchId} AND ${isAccessible(accountId)} ORDER BY d.position`

export const destinationsIn = (watchId: string) => sql<Destination & { readonly id: string }>`
  SELECT id, channel, address FROM watch_destinations WHERE watch_id = ${watchId} ORDER BY position`

export const countDestinations = (accountId: number) => sql<{ count: number }>`
  SELECT count(*) AS count FROM watches CROSS JOIN watch_destinations AS d
  WHERE d.watch_id = watches.id AND watches.account_id = ${accountId}`

export const deleteDestination = (id: string) => sql`DELETE FROM watch_destinations WHERE id = ${id}`

export const moveDestination = (id: string, position: number) => sql`
  UPDATE watch_destinations SET position = ${position} WHERE id = ${id}`

export const deleteWebhook = (watchId: string) => sql`
  DELETE FROM watch_destinations WHERE watch_id = ${watchId} AND channel = 'webhook'`

export const moveWebhook = (watchId: string, address: string) => sql`
  UPDATE watch_destinations SET
    state = CASE address WHEN ${address} THEN state ELSE 'active' END,
    attempts = CASE address WHEN ${address} THEN attempts ELSE 0 END,
    next_at = CASE address WHEN ${address} THEN next_at ELSE 0 END,
    address = ${address}
  WHERE watch_id = ${watchId} AND channel = 'webhook'`

/** Stores when the next digest is due. Changes no row if a delivery is pending. */
export const scheduleDigest = (id: string, at: number) => sql`
  UPDATE watch_destinations SET next_at = ${at} WHERE id = ${id} AND delivery_id IS NULL`

/** Makes notifiers compute again when digests are due. */
export const forgetDigests = (watchId: string) => sql`
  UPDATE watch_destinations SET next_at = 0 WHERE watch_id = ${watchId} AND delivery_id IS NULL`

/** Skips what happened during a pause. What is pending from before stays so. */
export const skipTo = (watchId: string, cursor: string) => sql`
  UPDATE watch_destinations SET cursor = ${cursor},
    delivery_cursor = CASE WHEN delivery_id IS NULL THEN NULL ELSE ${cursor} END
  WHERE watch_id = ${watchId}`

export const destinationById = (id: string) => sql<DestinationState>`SELECT ${STATE} WHERE d.id = ${id}`

/** A destination that needs a notifier, or whose reader has to be asked first. */
export interface DestinationToNotify extends Pick<
  DestinationState,
  'id' | 'version' | 'channel' | 'address' | 'account_id' | 'language'
> {
  readonly resumes: number
  /** Whether its reader confirmed the address; of mail addresses only. */
  readonly confirmed: number
  /** Whether its reader was sent the link to confirm. */
  readonly asked: number
}

export const destinationsToNotify = (service: WatchService, now: number) => sql<DestinationToNotify>`
  SELECT d.id, watches.version, d.resumes, d.channel, d.address, watches.account_id, watches.language, ${CONFIRMED},
    CASE WHEN r.expires_at IS NULL THEN 0 ELSE 1 END AS asked
  FROM watch_destinations AS d JOIN watches ON watches.id = d.watch_id ${RECIPIENT}
  WHERE d.state = 'active' AND watches.paused = 0 AND ${isOfService(service)} AND ${hasKey(now)}`

export interface NewDelivery {
  readonly id: string
  readonly body: string
  readonly cursor: string
}

/** Stores the next delivery. Changes no row if one is pending already, or the destination was deleted. */
export const beginDelivery = (id: string, delivery: NewDelivery) => sql`
  UPDATE watch_destinations SET delivery_id = ${delivery.id}, delivery_body = ${delivery.body},
    delivery_cursor = ${delivery.cursor}, attempts = 0, next_at = 0
  WHERE id = ${id} AND delivery_id IS NULL`

/** @param nextAt when the rest of a digest is due; 0 if there is none */
export const delivered = (id: string, delivery: string, now: number, nextAt: number) => sql`
  UPDATE watch_destinations SET cursor = delivery_cursor, delivery_id = NULL, delivery_body = NULL,
    delivery_cursor = NULL, attempts = 0, next_at = ${nextAt}, delivered_at = ${now}, last_error = NULL, last_error_at = NULL
  WHERE id = ${id} AND delivery_id = ${delivery}`

export interface Failure {
  readonly state: 'active' | 'dead'
  readonly attempts: number
  readonly nextAt: number
  readonly error: string
  readonly now: number
}

export const failed = (id: string, delivery: string, { state, attempts, nextAt, error, now }: Failure) => sql`
  UPDATE watch_destinations SET state = ${state}, attempts = ${attempts}, next_at = ${nextAt}, last_error = ${error},
    last_error_at = ${now}
  WHERE id = ${id} AND delivery_id = ${delivery}`

/** Resumes deliveries to a receiver that was given up. */
export const revive = (id: string) => sql`
  UPDATE watch_destinations SET state = 'active', attempts = 0, next_at = 0 WHERE id = ${id} AND state = 'dead'`

/** Skips changes that are not relevant. Changes no row if the position is no longer `from`. */
export const advanceCursor = (id: string, from: string, cursor: string) => sql`
  UPDATE watch_destinations SET cursor = ${cursor} WHERE id = ${id} AND delivery_id IS NULL AND cursor = ${from}`
