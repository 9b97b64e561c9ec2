import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import * as queries from './queries.ts'

/** Keys whose use is remembered until it is written; what is past that is noted at a later use. */
const MAX_NOTED = 10_000
/** A key in steady use is written that often, and not more. */
const WRITE_EVERY_MS = 5 * 60_000

/** When keys were last used, to within some minutes: written now and then, so that no request waits for it. */
export class KeyUses {
  readonly #database: Database
  readonly #clock: Clock
  readonly #noted = new Map<string, number>()
  readonly #written = new Map<string, number>()

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  note(keyId: string): void {
    const now = this.#clock.now()
    if (now - (this.#written.get(keyId) ?? -Infinity) < WRITE_EVERY_MS) return
    if (this.#noted.size < MAX_NOTED || this.#noted.has(keyId)) this.#noted.set(keyId, now)
  }

  /** Writes what was noted since. What fails is noted again at the next use. */
  async write(): Promise<void> {
    if (this.#noted.size === 0) return
    const uses = [...this.#noted]
    this.#noted.clear()
    if (this.#written.size + uses.length > MAX_NOTED) this.#written.clear()
    await this.#database.transaction(async (tx) => {
      for (const [id, at] of uses) await tx.run(queries.noteUse(id, at))
    })
    for (const [id, at] of uses) this.#written.set(id, at)
  }
}
