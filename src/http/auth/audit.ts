import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { inBatches } from '../../lib/concurrency.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Service } from './key-limits.ts'
import * as queries from './queries.ts'

/** Who acts: an account by one of its keys, or a user of the operating system, as `cli:<name>`, by a command. */
export interface Actor {
  readonly account: string
  /** Null for commands. */
  readonly keyId: string | null
}

/** The subject of `key.create`. */
export const createdKey = (account: string, service: Service, id: string): string =>
  `${account} (${service}), key ${id}`

/** The subject of `limits.set`. */
export const limitsSet = (account: string, limits: object): string => `${account} ${JSON.stringify(limits)}`

const KEPT_MS = 365 * 86_400_000
const BATCH = 1_000

/** Who did what. Nothing changes an entry, and only its age removes it. */
export type Audit = ReturnType<typeof openAudit>

export function openAudit(database: Database, clock: Clock) {
  let count = 0
  const keptFrom = () => clock.now() - KEPT_MS
  return {
    /** Stores that an action was done. Called before the action is acknowledged, so that none without an entry is. */
    async record({ account, keyId }: Actor, action: queries.AuditAction, subject: string): Promise<void> {
      // Entries of one millisecond are in their order, at least those of one process.
      const id = `${String(count++).padStart(9, '0')}-${randomBytes(6).toString('base64url')}`
      const entry = { at: clock.now(), id, actor: account, key_id: keyId, action, subject }
      // Also on a full disk: what was deleted to free space has an entry too.
      const insert = queries.insertEntry(entry)
      await database.transaction((tx) => tx.run(insert), undefined, { purpose: 'free-space' })
    },

    /**
     * Returns entries, the latest first.
     * @param after the last entry of the page before
     */
    page: (size: number, after?: queries.AuditPlace, actor?: string): Promise<queries.AuditEntry[]> =>
      database.scanner.all(queries.entryPage(size, after, actor)),

    /** Whether an action of an account was recorded within a time, whatever its subject. */
    async hasRecent(account: string, action: queries.AuditAction, withinMs: number): Promise<boolean> {
      const recent = queries.anyRecentEntry(account, action, clock.now() - withinMs)
      return (await database.first(recent)) !== undefined
    },

    /** Removes entries that are older than a year. */
    sweep: (stop: AbortSignal): Promise<number> =>
      inBatches(BATCH, stop, () =>
        database.transaction((tx) => tx.run(queries.deleteOldEntries(keptFrom(), BATCH))),
      ),
  }
}
