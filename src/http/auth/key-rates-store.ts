import type { Database } from '../../storage/database/database.ts'
import type { Claim, Grant, SharedWindows } from './key-rates.ts'
import { addRequests, windowsOf } from './queries-key-rates.ts'

/** The windows of keys in the database, which all processes and nodes share. */
export function sharedWindows(database: Database): SharedWindows {
  return async (claims: readonly Claim[]) => {
    const sorted = claims.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
    const ids = sorted.map(({ keyId }) => keyId)
    const rows = new TextEncoder().encode(
      JSON.stringify(sorted.map(({ keyId, count, rate }) => [keyId, count, rate.periodMs])),
    )
    const windows = await database.transaction(async (tx) => {
      // A copy: the bytes move to another thread, and this may run again.
      await tx.runMany(addRequests(database.dialect), [], rows.slice())
      return tx.all(windowsOf(database.dialect, ids))
    })
    const byId = new Map(windows.map((window) => [window.id, window]))
    return sorted.flatMap((claim): Grant[] => {
      const window = byId.get(claim.keyId)
      if (window === undefined) return []
      const before = Number(window.count) - claim.count
      const granted = Math.min(claim.count, Math.max(0, claim.rate.count - before))
      return [{ keyId: claim.keyId, granted, remainingMs: Number(window.remaining) }]
    })
  }
}
