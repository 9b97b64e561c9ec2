import * as queries from '../../deliveries/queries-deliveries.ts'
import { KEEP_MS } from '../../deliveries/delivery-log.ts'
import { inBatches } from '../../lib/background-jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { COUNTED_MS, UNUSED_RECIPIENT_MS } from './mail-recipients.ts'
import { anyOldMail, deleteOldMails, deleteUnusedRecipients } from './queries-mail.ts'

/** Deliveries deleted per transaction, so that other writers get their turn. */
const SWEEP_BATCH = 1_000

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
