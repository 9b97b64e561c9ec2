import * as queries from '../deliveries/queries.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database, Transaction } from '../storage/database/database.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import { inBatches } from '../lib/concurrency.ts'
import { deletionsBefore, removeChangesUpTo, removeObservations, removeServers } from './history/queries.ts'
import { anyExpired, deleteExpired, findDeleteExpired, endClaims, heldBy } from './queries-records.ts'
import { KEEP_MS } from '../deliveries/delivery-attempt.ts'
import { COUNTED_MS, UNUSED_RECIPIENT_MS } from './watches/mail-recipients.ts'
import { anyOldMail, deleteOldMails, deleteUnusedRecipients } from './watches/queries.ts'

/** Expired records removed per transaction, so that other writers get their turn. */
const BATCH = 2_000
/** Deleted records per transaction whose history is removed. */
const HISTORY_BATCH = 500

/** Removes the records whose 7 days have passed. Answers exclude them from that moment on, so removal is not urgent. */
export async function purgeExpired(database: Database, clock: Clock, signal: AbortSignal): Promise<number> {
  return inBatches(BATCH, signal, () =>
    database.transaction((tx) => tx.run(deleteExpired(clock.now(), BATCH))),
  )
}

/**
 * Removes expired records before a write, because a record that expired has to be added again from scratch. If more than a
 * batch has expired, removes only those that are about to be written: writers must not wait for all the others.
 * @param rows returns what will be written: a JSON array of arrays that start with the name
 */
export async function purgeBeforeWrite(tx: Transaction, dialect: Dialect, now: number, rows: () => string) {
  // On PostgreSQL, planning the deletion takes longer than the whole of this read.
  if ((await tx.first(anyExpired(now))) === undefined) return
  const removed = await tx.run(deleteExpired(now, BATCH))
  if (removed === BATCH) await tx.run(findDeleteExpired(dialect, now, rows()))
}

export async function hasExpired(database: Database, clock: Clock): Promise<boolean> {
  return (await database.first(anyExpired(clock.now()))) !== undefined
}

/** Removes the history of records deleted longer ago than `keepMs`: changes up to the deletion, and what the DNS said. */
export async function sweepHistory(
  database: Database,
  clock: Clock,
  keepMs: number,
  signal: AbortSignal,
): Promise<number> {
  const { dialect } = database
  return inBatches(HISTORY_BATCH, signal, () =>
    database.transaction(async (tx) => {
      const deletions = await tx.all(deletionsBefore(clock.now() - keepMs, HISTORY_BATCH))
      if (deletions.length === 0) return 0
      await tx.run(removeChangesUpTo(dialect, deletions))
      await tx.run(removeObservations(dialect, 'ns', deletions))
      await tx.run(removeObservations(dialect, 'mx', deletions))
      await tx.run(removeServers(dialect, deletions))
      return deletions.length
    }),
  )
}

/** Ends the claims of an account on records that it decides on, in the transaction of its update. */
export async function findEndClaims(
  tx: Transaction,
  dialect: Dialect,
  account: number,
  decided: readonly string[],
  now: number,
): Promise<void> {
  if (decided.length === 0) return
  const all = new Set(decided)
  const names = (await tx.all(heldBy(account, now))).map(({ name }) => name).filter((name) => all.has(name))
  if (names.length > 0) await tx.run(endClaims(dialect, account, now, names))
}

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
