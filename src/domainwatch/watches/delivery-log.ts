import type { Clock } from '../../lib/clock.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { inBatches } from '../../lib/background-jobs.ts'
import type { Outcome } from './channels/channel.ts'
import { COUNTED_MS, UNUSED_RECIPIENT_MS } from './mail-recipients.ts'
import * as queries from './queries-deliveries.ts'
import { anyOldMail, deleteOldMails, deleteUnusedRecipients } from './queries-mail.ts'

/** How long deliveries are listed. */
export const DELIVERIES_DAYS = 30
export const KEEP_MS = DELIVERIES_DAYS * 24 * 60 * 60 * 1000
/** Deliveries that a watch keeps, the newest. */
export const MAX_DELIVERIES = 1_000
/** The content of this many deliveries is kept, so that they can be sent again: about 2 MB. */
export const MAX_KEPT_BODIES = 100
/** Deliveries deleted per transaction, so that other writers get their turn. */
const SWEEP_BATCH = 1_000

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

export async function hasOldDeliveries(database: Database, clock: Clock): Promise<boolean> {
  const now = clock.now()
  const old =
    (await database.first(queries.anyOldDelivery(now - KEEP_MS))) ??
    (await database.first(queries.anyExpiredSecret(now))) ??
    (await database.first(anyOldMail(now - COUNTED_MS)))
  return old !== undefined
}

/** Deletes deliveries that are too old, secrets that no longer sign, and mails and mail addresses that no longer count. */
export async function sweepDeliveries(database: Database, clock: Clock, signal: AbortSignal): Promise<void> {
  await database.transaction((tx) => tx.run(queries.forgetExpiredSecrets(clock.now())))
  await database.transaction((tx) => tx.run(deleteUnusedRecipients(clock.now() - UNUSED_RECIPIENT_MS)))
  await inBatches(SWEEP_BATCH, signal, () =>
    database.transaction((tx) => tx.run(deleteOldMails(clock.now() - COUNTED_MS, SWEEP_BATCH))),
  )
  await inBatches(SWEEP_BATCH, signal, () =>
    database.transaction((tx) => tx.run(queries.deleteOldDeliveries(clock.now() - KEEP_MS, SWEEP_BATCH))),
  )
}
