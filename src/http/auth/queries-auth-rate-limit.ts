import { defineBatch } from '../../storage/database/batch.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import { join, sql } from '../../storage/database/sql.ts'
import { WINDOW_MS, type SharedCount } from './auth-rate-limit.ts'

/**
 * Adds to the shared counts. A window that is over, or that lies further ahead than the clock could have put it (it was set
 * back), begins anew.
 */
export const addFailures = (dialect: Dialect) => {
  const isOver = `failed_keys.ends_at <= excluded.ends_at - ${WINDOW_MS} OR failed_keys.ends_at > excluded.ends_at + ${WINDOW_MS}`
  const renewed = (fresh: string, else_: string) => `CASE WHEN ${isOver} THEN ${fresh} ELSE ${else_} END`
  return defineBatch({
    table: 'failed_keys',
    key: 'address',
    constants: {},
    elements: { address: 'text', count: 'integer' },
    insert: (at) => ({
      address: at.address,
      count: at.count,
      ends_at: `${dialect.now.sql} + ${WINDOW_MS}`,
    }),
    update: () => ({
      count: renewed('excluded.count', 'failed_keys.count + excluded.count'),
      ends_at: renewed('excluded.ends_at', 'failed_keys.ends_at'),
    }),
  })
}

export const sharedFailures = (dialect: Dialect, addresses: readonly string[]) => sql<SharedCount>`
  SELECT address, count, ends_at, ends_at - ${dialect.now} AS remaining FROM failed_keys
  WHERE address IN (${join(padded(addresses))})`

/** To a power of two, so that the statement has few texts: engines keep prepared what they have seen before. */
function padded(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return Array.from({ length }, (_, i) => values[i] ?? values[0] ?? '')
}

export const anyOverFailures = (dialect: Dialect) => sql<{ address: string }>`
  SELECT address FROM failed_keys WHERE ends_at <= ${dialect.now} LIMIT 1`

export const deleteOverFailures = (dialect: Dialect) => sql`
  DELETE FROM failed_keys WHERE ends_at <= ${dialect.now} OR ends_at > ${dialect.now} + ${2 * WINDOW_MS}`
