import { partsOf } from '../../storage/database/changes/change.ts'
import { logState } from '../../storage/database/changes/queries.ts'
import type { Database } from '../../storage/database/database.ts'
import { parseDhash, type Dhash } from './dhash.ts'
import { storedAfter } from './queries.ts'

/** Changes read at a time. */
const PAGE = 10_000

/** Told of each image that was stored. */
export type Stored = (accountId: number, dhash: Dhash) => void

/**
 * Follows what is stored, by anyone on any node, closely: a look sees all that was committed before it began, also what is
 * not settled (later changes with lower ids may still appear). So it reads from the settled id on each time, and knows what
 * of that it has seen already.
 */
export class FollowedImages {
  readonly #database: Database
  readonly #stored: Stored
  readonly #lost: () => void
  #cursor: { readonly epoch: string; readonly id: number } | undefined
  #seen = new Set<number>()
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** @param lost called when changes may have been missed: all that is known is void */
  constructor(database: Database, stored: Stored, lost: () => void) {
    this.#database = database
    this.#stored = stored
    this.#lost = lost
  }

  /** Everything that is committed by now has been told of when this resolves. */
  look(): Promise<void> {
    // A look under way may have read before now. The one after it is for all who ask in the meantime.
    this.#next ??= (async () => {
      await this.#running?.catch(() => {})
      this.#next = undefined
      this.#running = this.#look()
      await this.#running
    })()
    return this.#next
  }

  /** Looks, and leaves behind what is settled. */
  async advance(): Promise<void> {
    const settled = await this.#place()
    await this.look()
    if (settled === undefined || this.#cursor?.epoch !== settled.epoch || this.#cursor.id > settled.id) return
    this.#cursor = settled
    for (const id of this.#seen) if (id <= settled.id) this.#seen.delete(id)
  }

  async #look(): Promise<void> {
    const cursor = (this.#cursor ??= await this.#place())
    if (cursor === undefined) throw new Error('the log of changes has no place to begin at')
    for (let after = cursor.id; ;) {
      const rows = await this.#database.all(storedAfter(after, PAGE))
      for (const { id, account_id, dhash } of rows) {
        after = id
        if (this.#seen.has(id)) continue
        this.#seen.add(id)
        if (account_id !== null && dhash !== null) this.#stored(account_id, parseDhash(dhash))
      }
      // After the rows: had some been removed before they were read, the floor would say so by now.
      const log = await this.#database.first(logState())
      if (log?.epoch !== cursor.epoch || log.floor > cursor.id) return this.#begin()
      if (rows.length < PAGE) return
    }
  }

  #begin(): void {
    this.#cursor = undefined
    this.#seen = new Set()
    this.#lost()
  }

  async #place() {
    return partsOf(await this.#database.changes.head())
  }
}
