import { HttpError } from '../../lib/errors.ts'
import type { Transaction } from '../../storage/database/database.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { countShared, lockInstance } from './queries.ts'

/** Shared watches of all accounts, which every member lists. */
export const MAX_SHARED = 200

/**
 * Serialises the sharing of watches until the transaction ends, so that concurrent requests cannot exceed the limit together.
 * @throws HttpError 409 if the group already has `MAX_SHARED`
 */
export async function lockSharing(tx: Transaction, forUpdate: Sql): Promise<void> {
  await tx.all(lockInstance(forUpdate))
  const { count = 0 } = (await tx.first(countShared())) ?? {}
  if (count >= MAX_SHARED) throw new HttpError(409, `El grupo ya tiene ${MAX_SHARED} vigilancias compartidas`)
}
