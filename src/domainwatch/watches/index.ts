import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { clientOf } from '../../storage/database/connection-slots.ts'
import type { Database } from '../../storage/database/database.ts'
import { atomFeed } from '../events/atom.ts'
import type { EventPages } from '../events/pages.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import { languageOf, type Language } from '../events/atom-texts.ts'
import type { Channels, Destination } from './channels/channel.ts'
import { newSecret } from './channels/webhook.ts'
import { listDeliveries, replayDelivery, type DeliveryPage, type DeliveryRequest } from './delivery-log.ts'
import { assertAccountLimit, showDestination } from './destinations.ts'
import { DeliverySlots } from './delivery-attempt.ts'
import {
  editWatch,
  type EditedWatch,
  type WatchEdit,
  lockSharing,
  MAX_SHARED,
  rotateSecret,
  type RotatedSecret,
} from './edit-watch.ts'
import { entriesOf, digestOf, newAtomToken, Notifiers } from './notifiers.ts'
import { writeOne } from './notification.ts'
import * as queries from './queries.ts'
import { destinationsFor, insertDestination } from './queries-destinations.ts'
import { TestDeliveries } from './test-deliveries.ts'
import { outcomeJson, watchJson } from './watch-json.ts'
import type { Changes } from '../events/event.ts'
import { parseSavedFilters, type SavedFilters } from './watch-filters.ts'

/** Watches per account. */
export const MAX_WATCHES = 50
export const tooManyWatches = () => new HttpError(409, `La cuenta ya tiene ${MAX_WATCHES} vigilancias`)
/** Destinations in a list of watches: of the account's own, and of those that others share. */
const MAX_LISTED_DESTINATIONS = 2_100

export interface WatchesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly pages: EventPages
  readonly channels: Channels
  /** Time zone of digest hours. */
  readonly timeZone: string
  readonly vocabulary: Vocabulary
  /** Called when a notifier fails. It is retried. */
  readonly failed: (error: unknown) => void
}

export interface WatchRequest {
  readonly name: string
  readonly filters: SavedFilters
  readonly changes: Changes
  readonly destinations: readonly Destination[]
  readonly atom: boolean
  readonly isShared: boolean
  readonly language: Language
  /** HH:MM; null for immediate messages. */
  readonly digest: string | null
}

/** What the owner sees only when the watch is created. */
export interface NewWatch extends EditedWatch {
  readonly id: string
}

/** Saved filters of accounts, with notifications of new matches. */
export class Watches {
  readonly notifiers: Notifiers
  readonly #options: WatchesOptions
  readonly #tests: TestDeliveries

  constructor(options: WatchesOptions) {
    this.#options = options
    this.notifiers = new Notifiers({ ...options, slots: new DeliverySlots() })
    this.#tests = new TestDeliveries(options)
  }

  /** @throws HttpError 409 if the account already has all the watches or destinations that it may have */
  async create(accountId: number, request: WatchRequest): Promise<NewWatch> {
    const { clock, database, pages } = this.#options
    const { destinations } = request
    const id = randomBytes(9).toString('base64url')
    const secret = destinations.some(({ channel }) => channel === 'webhook') ? newSecret() : undefined
    const atomToken = request.atom ? newAtomToken() : undefined
    // Changes committed from now on are new.
    const cursor = await pages.head()
    await database.transaction(async (tx) => {
      // Serialises concurrent requests of an account, so that they cannot exceed the limit together.
      await tx.all(queries.lockAccount(accountId, database.dialect.forUpdate))
      const { count = 0 } = (await tx.first(queries.countWatches(accountId))) ?? {}
      if (count >= MAX_WATCHES) throw tooManyWatches()
      if (request.isShared) await lockSharing(tx, database.dialect)
      await tx.run(
        queries.insertWatch({
          id,
          accountId,
          name: request.name,
          filters: JSON.stringify(request.filters),
          changes: request.changes,
          now: clock.now(),
          secret: secret ?? null,
          shared: Number(request.isShared),
          language: request.language,
          digest: request.digest,
          atomDigest: atomToken === undefined ? null : digestOf(atomToken),
          cursor,
        }),
      )
      for (const [position, destination] of destinations.entries()) {
        const destinationId = randomBytes(9).toString('base64url')
        await tx.run(insertDestination({ ...destination, id: destinationId, watchId: id, position, cursor }))
      }
      await assertAccountLimit(tx, accountId)
    }, accountId)
    this.notifiers.wakeup.wakeAll()
    return { id, secret, atomToken }
  }

  /** Lists the watches of an account, and those that others share. */
  async list(accountId: number) {
    const { channels, database } = this.#options
    const reader = database.readerOf(clientOf(accountId))
    const rows = await reader.all(queries.watchesFor(accountId, MAX_WATCHES + MAX_SHARED))
    const destinations = await reader.all(destinationsFor(accountId, MAX_LISTED_DESTINATIONS))
    const byWatch = Map.groupBy(destinations, ({ watch_id }) => watch_id)
    return rows.map((row) => watchJson(row, byWatch.get(row.id) ?? [], channels))
  }

  /** @see editWatch */
  async edit(accountId: number, id: string, edit: WatchEdit): Promise<EditedWatch | undefined> {
    const { channels, database, pages } = this.#options
    const edited = await editWatch({ database, channels }, accountId, id, edit, await pages.head())
    this.notifiers.wakeup.wakeAll()
    return edited
  }

  /** @see rotateSecret */
  async rotate(accountId: number, id: string): Promise<RotatedSecret | undefined> {
    const { clock, database } = this.#options
    const rotated = await rotateSecret(database, clock, accountId, id)
    this.notifiers.wakeup.wakeAll()
    return rotated
  }

  /** @see listDeliveries */
  deliveries(accountId: number, id: string, page: DeliveryRequest): Promise<DeliveryPage | undefined> {
    const { clock, database } = this.#options
    return listDeliveries(database, clock, { accountId, id }, page)
  }

  /** @see replayDelivery */
  async replay(accountId: number, id: string, delivery: string): Promise<boolean> {
    const { clock, database } = this.#options
    const isAccepted = await replayDelivery(database, clock, { accountId, id }, delivery)
    this.notifiers.wakeup.wakeAll()
    return isAccepted
  }

  async remove(accountId: number, id: string): Promise<boolean> {
    const isRemoved = await writeOne(this.#options.database, queries.deleteWatch(accountId, id))
    this.notifiers.wakeup.wakeAll()
    return isRemoved
  }

  /**
   * Sends a test to the destinations of a watch. Deliveries to one that was given up resume if its test succeeds.
   * @returns an empty array if the account has no such watch, or it has no destinations
   * @throws HttpError 429 above the rate of the account or of a receiving host; OverloadError when too many tests wait
   */
  async test(accountId: number, watch: string) {
    const outcomes = await this.#tests.send(accountId, watch)
    if (outcomes.some(({ outcome }) => outcome.kind === 'delivered')) this.notifiers.wakeup.wakeAll()
    return outcomes.map(({ destination, outcome }) => ({
      ...outcomeJson(outcome),
      channel: destination.channel,
      to: showDestination(destination, this.#options.channels),
    }))
  }

  /**
   * Returns the Atom feed of a token and the filters of its watch, or undefined if there is none.
   * @param client whose turn the read from the database uses
   */
  async atomFeed(token: string, sheetUrl: (name: string) => string, client: string) {
    const { clock, database } = this.#options
    const row = await database.readerOf(client).first(queries.atomFeedByDigest(digestOf(token), clock.now()))
    if (row === undefined) return undefined
    const language = languageOf(row.language)
    const feed = atomFeed(`vigilancia ${row.id}`, row.name, entriesOf(row.feed), sheetUrl, language)
    return { feed, filters: parseSavedFilters(row.filters) }
  }
}
