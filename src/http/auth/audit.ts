import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { inBatches } from '../../lib/background-jobs.ts'
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
export class Audit {
  readonly #database: Database
  readonly #clock: Clock
  #count = 0

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** Stores that an action was done. Called before the action is acknowledged, so that none without an entry is. */
  async record({ account, keyId }: Actor, action: queries.AuditAction, subject: string): Promise<void> {
    // Entries of one millisecond are in their order, at least those of one process.
    const id = `${String(this.#count++).padStart(9, '0')}-${randomBytes(6).toString('base64url')}`
    const entry = { at: this.#clock.now(), id, actor: account, key_id: keyId, action, subject }
    // Also on a full disk: what was deleted to free space has an entry too.
    await this.#database.transaction((tx) => tx.run(queries.insertEntry(entry)), undefined, {
      purpose: 'free-space',
    })
  }

  /**
   * Returns entries, the latest first.
   * @param after the last entry of the page before
   */
  page(count: number, after?: queries.AuditPlace, actor?: string): Promise<queries.AuditEntry[]> {
    return this.#database.scanner.all(queries.entryPage(count, after, actor))
  }

  /** Whether an action of an account was recorded within a time, whatever its subject. */
  async hasRecent(account: string, action: queries.AuditAction, withinMs: number): Promise<boolean> {
    const since = this.#clock.now() - withinMs
    return (await this.#database.first(queries.anyRecentEntry(account, action, since))) !== undefined
  }

  async hasOld(): Promise<boolean> {
    return (await this.#database.first(queries.anyOldEntry(this.#keptFrom))) !== undefined
  }

  /** Removes entries that are older than a year. */
  async sweep(stop: AbortSignal): Promise<void> {
    await inBatches(BATCH, stop, () =>
      this.#database.transaction((tx) => tx.run(queries.deleteOldEntries(this.#keptFrom, BATCH))),
    )
  }

  get #keptFrom(): number {
    return this.#clock.now() - KEPT_MS
  }
}
