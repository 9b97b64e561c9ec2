import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { clientOf } from '../../storage/database/connection-slots.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { inBatches } from '../../lib/background-jobs.ts'
import type { Outcome } from './channels/channel.ts'
import * as queries from './queries-deliveries.ts'
import { accessibleWatch } from './queries.ts'

/** How long deliveries are listed. */
export const DELIVERIES_DAYS = 30
const KEEP_MS = DELIVERIES_DAYS * 24 * 60 * 60 * 1000
/** Deliveries that a watch keeps, the newest. */
export const MAX_DELIVERIES = 1_000
/** Of those, the newest whose content is kept, so that they can be sent again: about 2 MB. */
export const MAX_KEPT_BODIES = 100
/** Replays of a watch that may wait. */
export const MAX_REPLAYS = 20
/** Deliveries deleted per transaction, so that other writers get their turn. */
const SWEEP_BATCH = 1_000

export const noDelivery = () => new HttpError(404, 'La entrega no existe')
export const noContent = () => new HttpError(410, 'El contenido de la entrega ya no se conserva')
export const tooManyReplays = () =>
  new HttpError(409, `La vigilancia ya tiene ${MAX_REPLAYS} reenvíos en espera`)
const NO_DESTINATION = 'La vigilancia ya no tiene el destino de esa entrega'

export interface DeliveryRequest {
  readonly limit: number
  /** The cursor of the page; undefined for the newest deliveries. */
  readonly before: number | undefined
}

export interface DeliveryPage {
  readonly rows: readonly queries.DeliveryRow[]
  /** The cursor of the next page; undefined if this is the last one. */
  readonly next: number | undefined
}

/** Lists deliveries of a watch. Undefined if the account has no access to such a watch. */
export async function listDeliveries(
  database: Database,
  clock: Clock,
  watch: { readonly accountId: number; readonly id: string },
  { limit, before }: DeliveryRequest,
): Promise<DeliveryPage | undefined> {
  const reader = database.readerOf(clientOf(watch.accountId))
  if ((await reader.first(accessibleWatch(watch.accountId, watch.id))) === undefined) return undefined
  // One more than shown reveals whether there is a next page.
  const found = await reader.all(queries.deliveriesOf(watch.id, clock.now() - KEEP_MS, before, limit + 1))
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? rows.at(-1)?.number : undefined }
}

/**
 * Numbers the next delivery of a watch. Numbers follow the order of commits, so that cursors are exact.
 * @returns undefined if the watch was edited or paused since it was at `version`, or nobody holds a valid key of its account
 */
export async function nextNumber(
  tx: Transaction,
  watchId: string,
  version: number,
  now: number,
): Promise<number | undefined> {
  if ((await tx.run(queries.countDelivery(watchId, version, now))) === 0) return undefined
  return (await tx.first(queries.lastNumber(watchId)))?.deliveries
}

/** Records a delivery before its first attempt, and drops what a watch may no longer keep. */
export async function logDelivery(tx: Transaction, delivery: queries.LoggedDelivery): Promise<void> {
  const { watchId, number } = delivery
  await tx.run(queries.insertDelivery(delivery))
  await tx.run(queries.deleteUpTo(watchId, number - MAX_DELIVERIES))
  await tx.run(queries.dropBody(watchId, number - MAX_KEPT_BODIES))
}

/** @param state of the delivery after this attempt */
export function attemptOf(outcome: Outcome, state: queries.DeliveryState, ms: number): queries.Attempt {
  const error = outcome.kind === 'delivered' ? null : outcome.error
  return { state, code: outcome.code, ms: Math.round(ms), error }
}

/**
 * Asks for another attempt of a delivery, which the node that delivers makes. One that is pending is tried now.
 * @returns false if the account has no access to such a watch
 * @throws HttpError 404 without such a delivery; 409 if too many wait; 410 if its content or its destination is gone
 */
export async function replayDelivery(
  database: Database,
  clock: Clock,
  watch: { readonly accountId: number; readonly id: string },
  id: string,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { forUpdate } = database.dialect
    // Serialises requests for a watch, so that they cannot exceed the limit together.
    if ((await tx.first(accessibleWatch(watch.accountId, watch.id, forUpdate))) === undefined) return false
    const delivery = await tx.first(queries.deliveryOf(watch.id, id, clock.now() - KEEP_MS))
    if (delivery === undefined) throw noDelivery()
    if (delivery.replay_at !== null) return true
    if ((await tx.run(queries.hastenDelivery(delivery.destination_id, id))) > 0) return true
    if (delivery.has_body === 0) throw noContent()
    if ((await tx.first(queries.destinationExists(delivery.destination_id))) === undefined)
      throw new HttpError(410, NO_DESTINATION)
    const { count = 0 } = (await tx.first(queries.countReplays(watch.id))) ?? {}
    if (count >= MAX_REPLAYS) throw tooManyReplays()
    await tx.run(queries.requestReplay(id, clock.now()))
    return true
  }, watch.accountId)
}

export async function hasOldDeliveries(database: Database, clock: Clock): Promise<boolean> {
  const now = clock.now()
  const old =
    (await database.first(queries.anyOldDelivery(now - KEEP_MS))) ??
    (await database.first(queries.anyExpiredSecret(now)))
  return old !== undefined
}

/** Deletes deliveries that are too old, and secrets that no longer sign. */
export async function sweepDeliveries(database: Database, clock: Clock, signal: AbortSignal): Promise<void> {
  await database.transaction((tx) => tx.run(queries.forgetExpiredSecrets(clock.now())))
  await inBatches(SWEEP_BATCH, signal, () =>
    database.transaction((tx) => tx.run(queries.deleteOldDeliveries(clock.now() - KEEP_MS, SWEEP_BATCH))),
  )
}
