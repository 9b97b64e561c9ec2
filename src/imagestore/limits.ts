import type { Database } from '../database/database.ts'
import { holdLimits, setLimits, type Limits } from './queries-quotas.ts'

/** Changes what an application may hold; what is left out stays. Uploads count with it from now on. */
export function changeLimits(
  database: Database,
  accountId: number,
  change: Partial<Limits>,
): Promise<Limits> {
  return database.transaction(async (tx) => {
    const before = await tx.first(holdLimits(database.dialect, accountId))
    const limits = { max_bytes: null, max_images: null, ...before, ...change }
    await tx.run(setLimits(accountId, limits))
    return limits
  })
}
