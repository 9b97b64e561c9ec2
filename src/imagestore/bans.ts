import { accountClient } from '../lib/client.ts'
import type { Clock } from '../lib/clock.ts'
import { distanceBetween, isFlatHash, parseHash64 } from '../lib/perceptual-hash/index.ts'
import { randomId } from '../lib/random-id.ts'
import type { Database } from '../storage/database/database.ts'
import { lockAccount } from '../storage/database/dialect.ts'
import { imageErrors } from './errors.ts'
import { findImage } from './queries.ts'
import * as queries from './queries-settings.ts'
import type { Ban, BanRow } from './queries-settings.ts'

/** Bans of an application: each of its uploads reads all of them. */
export const MAX_BANS = 1_000

/** Whether a picture is refused. Pictures without contrast all have one dhash, so only their bytes are compared. */
export function isBanned(bans: readonly Ban[], hash: string, dhash: string | undefined): boolean {
  const wanted = dhash === undefined || isFlatHash(dhash) ? undefined : parseHash64(dhash)
  return bans.some((ban) => {
    if (ban.hash === hash) return true
    if (ban.dhash === null || wanted === undefined) return false
    return distanceBetween(parseHash64(ban.dhash), wanted) <= ban.distance
  })
}

/** Pictures that applications refuse to store, again or at all. */
export class Bans {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** Returns the bans of an application, oldest first. */
  async list(accountId: number): Promise<BanRow[]> {
    const bans = await this.#database.readerOf(accountClient(accountId)).all(queries.allBans(accountId))
    return bans.sort((one, other) => one.created_at - other.created_at || (one.id < other.id ? -1 : 1))
  }

  /**
   * Bans the bytes of a hash, with what looks like them if the application holds them; or what looks like a dhash.
   * @throws HttpError 409 if the application has its maximum
   */
  create(accountId: number, target: { hash: string } | { dhash: string }, distance: number): Promise<BanRow> {
    return this.#database.transaction(async (tx) => {
      // Concurrent requests of an application cannot exceed the limit together.
      await tx.first(lockAccount(this.#database.dialect, accountId))
      if ((await tx.all(queries.allBans(accountId))).length >= MAX_BANS)
        throw imageErrors.too_many_bans(MAX_BANS)
      const hash = 'hash' in target ? target.hash : null
      const dhash =
        'dhash' in target ? target.dhash : (await tx.first(findImage(accountId, target.hash)))?.dhash
      const ban = {
        id: randomId(),
        hash,
        dhash: dhash === undefined || isFlatHash(dhash) ? null : dhash,
        distance,
        created_at: this.#clock.now(),
      }
      await tx.run(queries.insertBan(accountId, ban))
      return ban
    }, accountId)
  }

  /** @returns false if the application has no such ban */
  async remove(accountId: number, id: string): Promise<boolean> {
    const removed = await this.#database.transaction(
      (tx) => tx.run(queries.deleteBan(accountId, id)),
      accountId,
    )
    return removed > 0
  }
}
