import type { Clock } from '../../lib/clock.ts'
import { accountClient, type Client } from '../../lib/client.ts'
import { localDateTime } from '../../lib/dates.ts'
import { isStorable } from '../../lib/text.ts'
import { type Database, type Transaction, randomId } from '../../storage/database/database.ts'
import { lockAccount } from '../../storage/database/dialect.ts'
import { type DeliveryGates, KEEP_MS, type Purpose } from '../../deliveries/delivery-attempt.ts'
import { Notifiers } from '../../deliveries/notifiers.ts'
import * as log from '../../deliveries/queries.ts'
import {
  destinationsFor,
  type DestinationState,
  countWatches,
  insertWatch,
} from '../../deliveries/queries.ts'
import { newSecret } from '../../deliveries/webhook.ts'
import { domainErrors } from '../errors.ts'
import { atomFeed } from '../events/atom.ts'
import type { DomainEvent } from '../events/event.ts'
import type { EventPages } from '../events/index.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import { languageOf } from '../texts.ts'
import type { Channel, Channels, DomainNotice } from './message.ts'
import { askRecipient, MailRecipients, toDigest } from './mail-recipients.ts'
import { atomFeedWork, toEntries } from './atom-feeds.ts'
import { showDestination, outcomeJson, watchJson, TestDeliveries } from './destinations.ts'
import {
  applyEdit,
  assertOwner,
  editWatch,
  getWatch,
  type EditContext,
  type EditedWatch,
  type WatchEdit,
  MAX_SHARED,
} from './edit-watch.ts'
import * as queries from './queries.ts'
import { notifiedWatch, readWatch } from './watch-filters.ts'
import { parseSavedFilters } from '../filters.ts'

/** Watches per account. */
export const MAX_WATCHES = 50
/** Destinations in a list of watches: of the account's own, and of those that others share. */
const MAX_LISTED_DESTINATIONS = 2_100
/** How long deliveries are signed with the previous secret, too. */
export const SECRETS_OVERLAP_HOURS = 24
/** Replays of a watch that may wait. */
export const MAX_REPLAYS = 20

/** What a watch is before the edit that completes its creation. */
const NEW_WATCH = {
  name: '',
  filters: '{}',
  changes: 'new',
  language: 'es',
  digest: null,
  secret: null,
  feed_digest: null,
  shared: 0,
  paused: 0,
}

export interface WatchesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly pages: EventPages
  readonly channels: Channels
  readonly gates: DeliveryGates
  /** Time zone of digest hours, and of the dates of records. */
  readonly timeZone: string
  readonly vocabulary: Vocabulary
  /** Called when a notifier fails. It is retried. */
  readonly failed: (error: unknown) => void
}

/** Saved filters of accounts, with notifications of new matches. */
export class Watches {
  readonly notifiers: Notifiers<DomainEvent, Channel>
  readonly recipients: MailRecipients
  readonly #options: WatchesOptions
  readonly #tests: TestDeliveries

  constructor(options: WatchesOptions) {
    this.#options = options
    this.recipients = new MailRecipients(options.database, options.clock)
    const { recipients } = this
    const context = {
      ...options,
      recipients,
      hold: async (
        channel: Channel,
        { account_id: account, address }: Pick<DestinationState, 'account_id' | 'address'>,
        purpose: Purpose,
      ) =>
        channel.renderConfirmation === undefined
          ? undefined
          : recipients.admit(account, address, purpose === 'confirmation'),
    }
    this.notifiers = new Notifiers({
      ...context,
      service: 'domainwatch',
      reportsTo: (row: DestinationState) => this.#reportsTo(row),
      otherWork: async (unconfirmed, now) => [
        ...(await atomFeedWork(options, now)),
        ...unconfirmed
          .filter(({ asked }) => asked === 0)
          .map((destination) => {
            const notify = (signal: AbortSignal) => askRecipient(context, destination, signal)
            return [`recipient ${destination.address.toLowerCase()}`, { version: '', notify }] as const
          }),
      ],
    })
    this.#tests = new TestDeliveries(context)
  }

  #reportsTo(row: DestinationState) {
    const channel = this.#options.channels.get(row.channel)
    if (channel === undefined) return undefined
    const { isRelevant, findBrand } = readWatch(row, this.#options.vocabulary)
    const watch = { ...notifiedWatch(row), findBrand }
    const render = (notice: DomainNotice) => channel.render(watch, notice, row.address)
    return { transport: channel, isRelevant, render }
  }

  /**
   * @param request all properties of the watch
   * @throws HttpError 400 if nothing would be notified; 409 above a limit of the account or the group
   */
  async create(accountId: number, request: WatchEdit): Promise<EditedWatch & { readonly id: string }> {
    const { database } = this.#options
    const { dialect } = database
    const id = randomId()
    const context = await this.#editContext()
    const made = await database.transaction(async (tx) => {
      // Serialises concurrent requests of an account, so that they cannot exceed the limit together.
      await tx.all(lockAccount(dialect, accountId))
      const watch = { ...NEW_WATCH, id, account_id: accountId }
      await tx.run(insertWatch(watch, context.now))
      const edited = await applyEdit(tx, dialect, context, watch, request)
      // After the edit, which rejects wrong input.
      const { count = 0 } = (await tx.first(countWatches(accountId))) ?? {}
      if (count > MAX_WATCHES) throw domainErrors.too_many_watches(MAX_WATCHES)
      return edited
    }, accountId)
    this.notifiers.wakeup.wakeAll()
    return { id, ...made }
  }

  async #editContext(): Promise<EditContext> {
    const { channels, clock, pages, timeZone } = this.#options
    // Changes committed from now on are new.
    const head = await pages.head()
    const now = clock.now()
    return { channels, head, now, localNow: localDateTime(now, timeZone) }
  }

  /** Lists the watches of an account, and those that others share. */
  async list(accountId: number) {
    const { channels, database } = this.#options
    const reader = database.readerOf(accountClient(accountId))
    const rows = await reader.all(queries.watchesFor(accountId, MAX_WATCHES + MAX_SHARED))
    const destinations = await reader.all(destinationsFor(accountId, MAX_LISTED_DESTINATIONS))
    const byWatch = Map.groupBy(destinations, ({ watch_id }) => watch_id)
    return rows.map((row) =>
      watchJson(row, byWatch.get(row.id) ?? [], channels, row.account_id === accountId),
    )
  }

  /** @see editWatch */
  async edit(accountId: number, id: string, edit: WatchEdit) {
    const edited = await editWatch(this.#options.database, await this.#editContext(), accountId, id, edit)
    this.notifiers.wakeup.wakeAll()
    return edited
  }

  /**
   * Replaces the secret of a watch. Of two rotations within a day, the secret before the first one stops signing immediately.
   * @returns the new secret, and when the previous one stops signing
   * @throws HttpError 403 if another account shares the watch; 404; 409 if it has no webhook
   */
  async rotate(accountId: number, id: string) {
    const secret = newSecret()
    const until = this.#options.clock.now() + SECRETS_OVERLAP_HOURS * 60 * 60 * 1000
    await this.#change(accountId, id, async (tx, watch) => {
      assertOwner(watch, accountId)
      if (watch.secret === null) throw domainErrors.webhook_missing()
      await tx.run(queries.replaceSecret(id, secret, until))
    })
    return { secret, until }
  }

  /** Changes a watch that no other request can change meanwhile. @throws HttpError 404 */
  async #change(
    accountId: number,
    id: string,
    change: (tx: Transaction, watch: queries.EditableWatch) => Promise<void>,
  ): Promise<void> {
    const { database } = this.#options
    await database.transaction(
      async (tx) => change(tx, await getWatch(tx, accountId, id, database.dialect.forUpdate)),
      accountId,
    )
    this.notifiers.wakeup.wakeAll()
  }

  /**
   * Lists deliveries of a watch, newest first.
   * @param before the cursor of the page; undefined for the newest deliveries
   * @param count one more than a page has reveals whether there is a next one
   * @throws HttpError 404
   */
  async deliveries(accountId: number, id: string, count: number, before: number | undefined) {
    const { clock, database } = this.#options
    const reader = database.readerOf(accountClient(accountId))
    await getWatch(reader, accountId, id)
    return reader.all(log.deliveriesOf(id, clock.now() - KEEP_MS, before, count))
  }

  /**
   * Asks for another attempt of a delivery, which the node that delivers makes. One that is pending is tried now.
   * @throws HttpError 404 without such a watch or delivery; 409 if too many wait; 410 if its content or its destination is gone
   */
  replay(accountId: number, watchId: string, id: string): Promise<void> {
    const { clock } = this.#options
    return this.#change(accountId, watchId, async (tx) => {
      const delivery = isStorable(id)
        ? await tx.first(log.findDelivery(watchId, id, clock.now() - KEEP_MS))
        : undefined
      if (delivery === undefined) throw domainErrors.delivery_not_found()
      if (delivery.replay_at !== null) return
      if ((await tx.run(log.hastenDelivery(delivery.destination_id, id))) > 0) return
      if (delivery.has_body === 0) throw domainErrors.delivery_content_gone()
      if ((await tx.first(log.destinationExists(delivery.destination_id))) === undefined)
        throw domainErrors.delivery_destination_gone()
      const { count = 0 } = (await tx.first(log.countReplays(watchId))) ?? {}
      if (count >= MAX_REPLAYS) throw domainErrors.too_many_replays(MAX_REPLAYS)
      await tx.run(log.requestReplay(id, clock.now()))
    })
  }

  /** @throws HttpError 403 if another account shares the watch, 404 */
  remove(accountId: number, id: string): Promise<void> {
    return this.#change(accountId, id, async (tx, watch) => {
      assertOwner(watch, accountId)
      await tx.run(queries.deleteWatch(id))
    })
  }

  /**
   * Sends a test to the destinations of a watch. Deliveries to one that was given up resume if its test succeeds.
   * @throws HttpError 404 for a watch that the account does not have, or without destinations; 429 above the rate of the account or of a receiving host; OverloadError when too many tests wait
   */
  async test(accountId: number, watch: string) {
    const outcomes = await this.#tests.send(accountId, watch)
    if (outcomes.some(({ outcome }) => outcome.kind === 'delivered')) this.notifiers.wakeup.wakeAll()
    return outcomes.map(({ destination, outcome }) => ({
      ...outcomeJson(outcome),
      channel: destination.channel,
      to: showDestination(destination, this.#options.channels, destination.account_id === accountId),
    }))
  }

  /**
   * Returns the Atom feed of a token and the filters of its watch, or undefined if there is none.
   * @param client whose turn the read from the database uses
   */
  async atomFeed(token: string, sheetUrl: (name: string) => string, client: Client) {
    const { clock, database } = this.#options
    const row = await database.readerOf(client).first(queries.atomFeedByDigest(toDigest(token), clock.now()))
    if (row === undefined) return undefined
    const language = languageOf(row.language)
    const feed = atomFeed(`vigilancia ${row.id}`, row.name, toEntries(row.feed), sheetUrl, language)
    return { feed, filters: parseSavedFilters(row.filters) }
  }
}
