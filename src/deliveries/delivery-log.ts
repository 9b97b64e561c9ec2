import type { Transaction } from '../storage/database/database.ts'
import * as queries from './queries-deliveries.ts'
import type { Outcome } from './transport.ts'

/** How long deliveries are listed. */
export const DELIVERIES_DAYS = 30
export const KEEP_MS = DELIVERIES_DAYS * 24 * 60 * 60 * 1000
/** Deliveries that a watch keeps, the newest. */
export const MAX_DELIVERIES = 1_000
/** The content of this many deliveries is kept, so that they can be sent again: about 2 MB. */
export const MAX_KEPT_BODIES = 100

/** Records a delivery before its first attempt, and drops what a watch may no longer keep. */
export async function logDelivery(tx: Transaction, delivery: queries.LoggedDelivery): Promise<void> {
  const { watchId, number } = delivery
  await tx.run(queries.insertDelivery(delivery))
  await tx.run(queries.deleteUpTo(watchId, number - MAX_DELIVERIES))
  await tx.run(queries.dropBody(watchId, number - MAX_KEPT_BODIES))
}

/** @param state of the delivery after this attempt */
export function toAttempt(outcome: Outcome, state: queries.DeliveryState, ms: number): queries.Attempt {
  const error = outcome.kind === 'delivered' ? null : outcome.error
  return { state, code: outcome.code, ms: Math.round(ms), error }
}
