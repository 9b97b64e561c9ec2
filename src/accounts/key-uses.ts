import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import * as queries from './queries.ts'

/** Limits the keys remembered between two writes. Others are recorded at a later use. */
const MAX_RECORDED = 10_000
/** Minimum interval between two writes of one key. */
const WRITE_INTERVAL_MS = 5 * 60_000

/** Records when keys were last used, to within a few minutes. Written in batches, so that no request waits for it. */
export class KeyUses {
  readonly #database: Database
  readonly #clock: Clock
  readonly #recorded = new Map<string, number>()
  readonly #written = new Map<string, number>()

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  record(keyId: string): void {
    const now = this.#clock.now()
    if (now - (this.#written.get(keyId) ?? -Infinity) < WRITE_INTERVAL_MS) return
    if (this.#recorded.size < MAX_RECORDED || this.#recorded.has(keyId)) this.#recorded.set(keyId, now)
  }

  /** Stores the uses since the last call. After a failure, they are recorded again at the next use. */
  async write(): Promise<void> {
    if (this.#recorded.size === 0) return
    const uses = [...this.#recorded]
    this.#recorded.clear()
    if (this.#written.size + uses.length > MAX_RECORDED) this.#written.clear()
    await this.#database.transaction(async (tx) => {
      for (const [id, at] of uses) await tx.run(queries.recordUse(id, at))
    })
    for (const [id, at] of uses) this.#written.set(id, at)
  }
}
