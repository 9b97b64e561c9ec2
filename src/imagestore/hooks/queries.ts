import { sql } from '../../storage/database/sql.ts'
import type { DestinationRow } from '../../deliveries/queries-destinations.ts'

/** A hook is a watch of the application with a webhook and no other destination. */
export interface HookRow extends Omit<DestinationRow, 'watch_id' | 'channel' | 'confirmed'> {
  readonly filters: string
  readonly created_at: number
}

/** A cross join keeps SQLite from reading the destinations of all watches. */
export const findHooks = (accountId: number) => sql<HookRow>`
  SELECT watches.id, watches.filters, watches.created_at, d.address, d.state, d.attempts, d.next_at, d.delivered_at,
    d.last_error, d.last_error_at, d.delivery_id
  FROM watches CROSS JOIN watch_destinations AS d
  WHERE d.watch_id = watches.id AND watches.account_id = ${accountId} ORDER BY watches.created_at, watches.id`

export const deleteHook = (accountId: number, id: string) => sql`
  DELETE FROM watches WHERE id = ${id} AND account_id = ${accountId}`
