import type { Transaction } from '../storage/database/database.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import { holdLimits, setLimits, type Limits } from './queries-quotas.ts'

/** Changes what an application may hold; what is left out stays. Uploads count with it from the commit on. */
export async function changeLimits(
  tx: Transaction,
  dialect: Dialect,
  accountId: number,
  change: Partial<Limits>,
): Promise<Limits> {
  const before = await tx.first(holdLimits(dialect, accountId))
  const limits = { max_bytes: null, max_images: null, ...before, ...change }
  if (Object.keys(change).length > 0) await tx.run(setLimits(accountId, limits))
  return limits
}
