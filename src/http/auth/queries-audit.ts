import { allOf, limit, sql, type Sql } from '../../storage/database/sql.ts'

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

export const anyOldEntry = (before: number) => sql<AuditPlace>`
  SELECT at, id FROM audit WHERE at < ${before} ORDER BY at LIMIT 1`

export const deleteOldEntries = (before: number, count: number) => sql`
  DELETE FROM audit WHERE (at, id) IN (
    SELECT at, id FROM audit WHERE at < ${before} ORDER BY at, id ${limit(count)}
  )`
