import type { Client } from '../lib/client.ts'
import { secondsOf, type Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { isImageHash, type ImageHash } from './image-hash.ts'
import type { KnownImage, KnownImages } from './known-images.ts'
import type { Alias } from './links/read-link.ts'
import { findLifetime, lockBlob } from './queries.ts'
import { isCurrent } from './uploaders.ts'
import * as queries from './queries-settings.ts'

/** Names that applications give to their images, and give to others later. */
export class Aliases {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** @returns false if the application has no such image */
  set(accountId: number, name: string, hash: ImageHash): Promise<boolean> {
    return this.#database.transaction(async (tx) => {
      await tx.first(lockBlob(this.#database.dialect, hash))
      const image = await tx.first(findLifetime(accountId, hash))
      if (image === undefined || !isCurrent(image, secondsOf(this.#clock))) return false
      await tx.run(queries.setAlias(accountId, name, hash))
      return true
    }, accountId)
  }

  async remove(accountId: number, name: string): Promise<void> {
    await this.#database.transaction((tx) => tx.run(queries.removeAlias(accountId, name)), accountId)
  }

  /** The image that a link asks for, if the application of the alias still holds it. */
  async find(image: ImageHash | Alias, images: KnownImages, client: Client): Promise<KnownImage | undefined> {
    if (typeof image === 'string') return images.find(image, client)
    const { account, name } = image
    const target = await this.#database.readerOf(client).first(queries.aliasTarget(account, name))
    if (target === undefined || !isImageHash(target.hash)) return undefined
    const known = await images.find(target.hash, client)
    const isHeld = known?.holders.some(({ account_id }) => account_id === target.account_id) === true
    return isHeld ? known : undefined
  }
}
