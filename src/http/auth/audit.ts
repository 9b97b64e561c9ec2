import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { inBatches } from '../../lib/background-jobs.ts'
import type { Database } from '../../storage/database/database.ts'
import { allOf, limit, sql, type Sql } from '../../storage/database/sql.ts'
import type { Service } from './key-limits.ts'

export const AUDIT_ACTIONS = [
  'key.create',
  'key.revoke',
  'limits.set',
  'secret.renew',
  'claims.release',
  'rule.create',
  'rule.update',
  'rule.delete',
  'watch.delete',
  'dismissed.forget',
  'image.delete',
  'bulk.start',
  'bulk.undo',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who acts: an account by one of its keys, or a user of the operating system, as `cli:<name>`, by a command. */
export interface Actor {
  readonly account: string
  /** Null for commands. */
  readonly keyId: string | null
}

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

/** The subject of `key.create`. */
export const createdKey = (account: string, service: Service, id: string): string =>
  `${account} (${service}), key ${id}`

/** The subject of `limits.set`. */
export const limitsSet = (account: string, limits: object): string => `${account} ${JSON.stringify(limits)}`

const KEPT_MS = 365 * 86_400_000
const BATCH = 1_000

/** Who did what. Nothing changes an entry, and only its age removes it. */
export class Audit {
  readonly #database: Database
  readonly #clock: Clock
  #count = 0

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** Stores that an action was done. Called before the action is acknowledged, so that none without an entry is. */
  async record({ account, keyId }: Actor, action: AuditAction, subject: string): Promise<void> {
    // Entries of one millisecond are in their order, at least those of one process.
    const id = `${String(this.#count++).padStart(9, '0')}-${randomBytes(6).toString('base64url')}`
    await this.#database.transaction((tx) =>
      tx.run(sql`
        INSERT INTO audit (at, id, actor, key_id, action, subject)
        VALUES (${this.#clock.now()}, ${id}, ${account}, ${keyId}, ${action}, ${subject})`),
    )
  }

  /**
   * Returns entries, the latest first.
   * @param after the last entry of the page before
   */
  page(count: number, after?: AuditPlace, actor?: string): Promise<AuditEntry[]> {
    const conditions: Sql[] = []
    if (after !== undefined) conditions.push(sql`(at, id) < (${after.at}, ${after.id})`)
    if (actor !== undefined) conditions.push(sql`actor = ${actor}`)
    return this.#database.scanner.all(sql<AuditEntry>`
      SELECT at, id, actor, key_id, action, subject FROM audit
      WHERE ${allOf(conditions)} ORDER BY at DESC, id DESC ${limit(count)}`)
  }

  hasOld(): Promise<boolean> {
    return this.#database.first(this.#old(1)).then((entry) => entry !== undefined)
  }

  /** Removes entries that are older than a year. */
  async sweep(stop: AbortSignal): Promise<void> {
    await inBatches(BATCH, stop, () =>
      this.#database.transaction((tx) =>
        tx.run(sql`DELETE FROM audit WHERE (at, id) IN (${this.#old(BATCH)})`),
      ),
    )
  }

  readonly #old = (count: number) => sql<AuditPlace>`
    SELECT at, id FROM audit WHERE at < ${this.#clock.now() - KEPT_MS} ORDER BY at, id ${limit(count)}`
}
