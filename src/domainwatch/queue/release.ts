import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { endClaims } from './queries.ts'

/** Ends claims of an account: all, or those of records with these names. @returns their number */
export const releaseClaims = (
  { dialect, transaction }: Pick<Database, 'dialect' | 'transaction'>,
  clock: Clock,
  accountId: number,
  names?: readonly string[],
): Promise<number> =>
  transaction((tx) => tx.run(endClaims(dialect, accountId, clock.now(), names)), accountId)
