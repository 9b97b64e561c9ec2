import { defineBatch } from '../../storage/database/batch.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import { join, sql } from '../../storage/database/sql.ts'

export interface WindowRow {
  readonly id: string
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly remaining: number
}

/**
 * Adds to the shared counts; a negative number gives back. A window that is over, or that lies further ahead than its length
 * (the clock was set back), begins anew.
 */
export const addRequests = (dialect: Dialect) => {
  const isOver =
    'key_rates.ends_at <= excluded.ends_at - excluded.period_ms OR key_rates.ends_at > excluded.ends_at'
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
export const windowsOf = (dialect: Dialect, ids: readonly string[]) => sql<WindowRow>`
  SELECT id, count, ends_at - ${dialect.now} AS remaining FROM key_rates WHERE id IN (${join(padded(ids))})`

/** To a power of two, so that the statement has few texts: engines cache prepared statements by their text. */
function padded(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return Array.from({ length }, (_, i) => values[i] ?? values[0] ?? '')
}
