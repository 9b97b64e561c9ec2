import { parseHash64, type Hash64 } from '../../lib/perceptual-hash/index.ts'
import { partsOf } from '../../storage/database/changes/change.ts'
import { logState } from '../../storage/database/changes/change-log.ts'
import type { Database } from '../../storage/database/database.ts'
import { storedAfter } from '../queries.ts'

/** Changes per query. */
const PAGE = 10_000

/** Called with each image that was stored. */
export type OnStored = (accountId: number, hash: Hash64) => void

/**
 * Follows the images that any process stores. `catchUp` sees everything that was committed before it was called, including
 * changes that are not settled (later changes with lower ids may still appear). So it reads from the settled id each time
 * and remembers which of the changes after it have been seen.
 */
export class ImageFollower {
  readonly #database: Database
  readonly #onStored: OnStored
  readonly #onLost: () => void
  #cursor: { readonly epoch: string; readonly id: number } | undefined
  #seen = new Set<number>()
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** @param onLost called when changes may have been missed, so that everything known is invalid */
  constructor(database: Database, onStored: OnStored, onLost: () => void) {
    this.#database = database
    this.#onStored = onStored
    this.#onLost = onLost
  }

  /** Resolves when `onStored` has been called for every image committed before the call. */
  catchUp(): Promise<void> {
    // A running read may have started before the latest commit. The next one serves all calls in the meantime.
    this.#next ??= (async () => {
      await this.#running?.catch(() => {})
      this.#next = undefined
      this.#running = this.#read()
      await this.#running
    })()
    return this.#next
  }

  /** Catches up and forgets the changes that are settled. */
  async advance(): Promise<void> {
    const settled = await this.#settledCursor()
    await this.catchUp()
    if (settled === undefined || this.#cursor?.epoch !== settled.epoch || this.#cursor.id > settled.id) return
    this.#cursor = settled
    for (const id of this.#seen) if (id <= settled.id) this.#seen.delete(id)
  }

  async #read(): Promise<void> {
    const cursor = (this.#cursor ??= await this.#settledCursor())
    if (cursor === undefined) throw new Error('the change log has no position to start from')
    for (let after = cursor.id; ;) {
      const rows = await this.#database.all(storedAfter(after, PAGE))
      for (const { id, account_id, dhash } of rows) {
        after = id
        if (this.#seen.has(id)) continue
        this.#seen.add(id)
        if (account_id !== null && dhash !== null) this.#onStored(account_id, parseHash64(dhash))
      }
      // Checked after reading: if rows had been pruned before, the floor would show it now.
      const log = await this.#database.first(logState())
      if (log?.epoch !== cursor.epoch || log.floor > cursor.id) return this.#restart()
      if (rows.length < PAGE) return
    }
  }

  #restart(): void {
    this.#cursor = undefined
    this.#seen = new Set()
    this.#onLost()
  }

  async #settledCursor() {
    return partsOf(await this.#database.changes.head())
  }
}
