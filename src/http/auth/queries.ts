import { defineBatch } from '../../storage/database/batch.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import { join, sql, allOf, limit, type Sql } from '../../storage/database/sql.ts'

export const AUDIT_ACTIONS = [
  'key.create',
  'key.revoke',
  'session.open',
  'limits.set',
  'secret.renew',
  'preset.set',
  'watermark.set',
  'claims.release',
  'rule.create',
  'rule.update',
  'rule.delete',
  'watch.delete',
  'dismissed.forget',
  'image.trash',
  'image.restore',
  'image.delete',
  'bulk.start',
  'bulk.undo',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly id: string
  readonly actor: string
  readonly key_id: string | null
  readonly action: AuditAction
  readonly subject: string
}

/** The place of an entry in the order of pages. */
export type AuditPlace = Pick<AuditEntry, 'at' | 'id'>

export const insertEntry = ({ at, id, actor, key_id, action, subject }: AuditEntry) => sql`
  INSERT INTO audit (at, id, actor, key_id, action, subject)
  VALUES (${at}, ${id}, ${actor}, ${key_id}, ${action}, ${subject})`

/** Selects entries after a place, the latest first. */
export function entryPage(count: number, after?: AuditPlace, actor?: string) {
  const conditions: Sql[] = []
  if (after !== undefined) conditions.push(sql`(at, id) < (${after.at}, ${after.id})`)
  if (actor !== undefined) conditions.push(sql`actor = ${actor}`)
  return sql<AuditEntry>`
    SELECT at, id, actor, key_id, action, subject FROM audit
    WHERE ${allOf(conditions)} ORDER BY at DESC, id DESC ${limit(count)}`
}

export const anyRecentEntry = (actor: string, action: AuditAction, since: number) => sql<AuditPlace>`
  SELECT at, id FROM audit WHERE at > ${since} AND actor = ${actor} AND action = ${action} LIMIT 1`

export const deleteOldEntries = (before: number, count: number) => sql`
  DELETE FROM audit WHERE (at, id) IN (
    SELECT at, id FROM audit WHERE at < ${before} ORDER BY at, id ${limit(count)}
  )`

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
