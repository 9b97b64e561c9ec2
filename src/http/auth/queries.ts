import { defineBatch } from '../../storage/database/batch.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import { join, sql } from '../../storage/database/sql.ts'

/** Window in which failed authentications of an address are counted. */
export const FAILURE_WINDOW_MS = 60_000

/** Failed authentications of an address over all processes. */
export interface SharedFailures {
  /** A digest of the address. */
  readonly address: string
  readonly count: number
  /** By the database's clock. */
  readonly ends_at: number
  /** Milliseconds until `ends_at`. */
  readonly remaining: number
}

/**
 * Adds to the shared counts of failures. A window that is over, or that ends later than possible because the clock was set
 * back, is replaced by a new one.
 */
export const addFailures = (dialect: Dialect) => {
  const isOver = `failed_keys.ends_at <= excluded.ends_at - ${FAILURE_WINDOW_MS} OR failed_keys.ends_at > excluded.ends_at + ${FAILURE_WINDOW_MS}`
  const renewed = (fresh: string, current: string) => `CASE WHEN ${isOver} THEN ${fresh} ELSE ${current} END`
  return defineBatch({
    table: 'failed_keys',
    key: 'address',
    constants: {},
    elements: { address: 'text', count: 'integer' },
    insert: (at) => ({
      address: at.address,
      count: at.count,
      ends_at: `${dialect.now.sql} + ${FAILURE_WINDOW_MS}`,
    }),
    update: () => ({
      count: renewed('excluded.count', 'failed_keys.count + excluded.count'),
      ends_at: renewed('excluded.ends_at', 'failed_keys.ends_at'),
    }),
  })
}

/** @param addresses at least one */
export const sharedFailures = (dialect: Dialect, addresses: readonly string[]) => sql<SharedFailures>`
  SELECT address, count, ends_at, ends_at - ${dialect.now} AS remaining FROM failed_keys
  WHERE address IN (${join(padded(addresses))})`

export const anyExpiredFailures = (dialect: Dialect) => sql<{ address: string }>`
  SELECT address FROM failed_keys WHERE ends_at <= ${dialect.now} LIMIT 1`

export const deleteExpiredFailures = (dialect: Dialect) => sql`
  DELETE FROM failed_keys WHERE ends_at <= ${dialect.now} OR ends_at > ${dialect.now} + ${2 * FAILURE_WINDOW_MS}`

export interface RateWindowRow {
  readonly id: string
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly remaining: number
}

/** A statement that waited for another one has an older time. Only a larger difference means that the clock was set back. */
const MAX_WAITED_MS = 60_000

/**
 * Adds to the shared request counts of keys; a negative count returns unused requests. A window that is over, or that ends
 * later than possible because the clock was set back, is replaced by a new one.
 */
export const addRequests = (dialect: Dialect) => {
  const isOver = `key_rates.ends_at <= excluded.ends_at - excluded.period_ms OR key_rates.ends_at > excluded.ends_at + ${MAX_WAITED_MS}`
  return defineBatch({
    table: 'key_rates',
    key: 'id',
    constants: {},
    elements: { id: 'text', count: 'integer', period_ms: 'integer' },
    insert: (at) => ({
      id: at.id,
      count: at.count,
      period_ms: at.period_ms,
      ends_at: `${dialect.now.sql} + ${at.period_ms}`,
    }),
    update: () => ({
      count: `CASE WHEN NOT (${isOver}) THEN key_rates.count + excluded.count WHEN excluded.count > 0 THEN excluded.count ELSE 0 END`,
      period_ms: 'excluded.period_ms',
      ends_at: `CASE WHEN ${isOver} THEN excluded.ends_at ELSE key_rates.ends_at END`,
    }),
  })
}

/** @param ids at least one */
export const rateWindows = (dialect: Dialect, ids: readonly string[]) => sql<RateWindowRow>`
  SELECT id, count, ends_at - ${dialect.now} AS remaining FROM key_rates WHERE id IN (${join(padded(ids))})`

/** Pads to a power of two, so that there are few statement texts: engines cache prepared statements by text. */
function padded(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return Array.from({ length }, (_, i) => values[i] ?? values[0] ?? '')
}
