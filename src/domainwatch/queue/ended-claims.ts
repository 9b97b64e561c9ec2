import type { Clock } from '../../lib/clock.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import { inBatches } from '../../lib/background-jobs.ts'
import { anyEndedClaim, deleteEndedClaims, endClaims, heldBy } from './queries.ts'

/** Claims removed per transaction, so that other writers get their turn. */
const BATCH = 2_000
/** An account has fewer claims than this, so they are compared with a batch of more records. */
const MAX_NAMES = 500

/** Ends the claims of an account on records that it updates, in the transaction of the update. */
export async function endClaimsOf(
  tx: Transaction,
  dialect: Dialect,
  account: number,
  names: readonly string[],
  now: number,
): Promise<void> {
  let updated = names
  if (names.length > MAX_NAMES) {
    const all = new Set(names)
    updated = (await tx.all(heldBy(account, now))).map(({ name }) => name).filter((name) => all.has(name))
  }
  if (updated.length > 0) await tx.run(endClaims(dialect, account, now, updated))
}

export async function hasEndedClaims(database: Database, clock: Clock): Promise<boolean> {
  return (await database.first(anyEndedClaim(clock.now()))) !== undefined
}

/** Deletes claims whose time is over. They have no effect any more, so this only frees space. */
export const sweepClaims = (database: Database, clock: Clock, signal: AbortSignal): Promise<number> =>
  inBatches(BATCH, signal, () =>
    database.transaction((tx) => tx.run(deleteEndedClaims(database.dialect, clock.now(), BATCH))),
  )
