import { hash, randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import { RateLimit } from '../../lib/rate-limit.ts'
import type { Database } from '../../storage/database/database.ts'
import { atomFeed } from '../events/atom.ts'
import type { EventPages } from '../events/pages.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import { DeliverySlots } from './delivery-slots.ts'
import { entriesOf, Notifiers } from './notifiers.ts'
import { writeOne } from './notification.ts'
import * as queries from './queries.ts'
import { savedOf, type Changes, type SavedFilters } from './watched.ts'
import { testPayload } from './webhook-notifier.ts'
import { newSecret, newWebhookId, type Outcome, type Send } from './webhook/send.ts'

/** Watches per account. */
const MAX_WATCHES = 50
/** Concurrent test deliveries of this process. One to a silent receiver takes 20 s, so an account gets only a few. */
const TESTS = { slots: 32, slotsPerClient: 2, maxWaiting: 64, maxWaitingPerClient: 4, timeoutMs: 10_000 }
/** Rate limits of tests. The one per host protects receivers whose owner never asked for tests. */
const TESTS_OF_ACCOUNT = { burst: 10, perSecond: 1 / 6, maxClients: 10_000 }
const TESTS_TO_HOST = { burst: 20, perSecond: 1 / 3, maxClients: 10_000 }

export interface WatchesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly pages: EventPages
  readonly send: Send
  readonly vocabulary: Vocabulary
  /** Called when a notifier throws. */
  readonly failed: (error: unknown) => void
}

export interface WatchRequest {
  readonly name: string
  readonly filters: SavedFilters
  readonly changes: Changes
  readonly url: string | undefined
  readonly atom: boolean
}

/** What the owner sees only when the watch is created. */
export interface NewWatch {
  readonly id: string
  readonly secret: string | undefined
  readonly feedToken: string | undefined
}

/** Saved filters of accounts, with notifications of new matches. */
export class Watches {
  readonly notifiers: Notifiers
  readonly #options: WatchesOptions
  readonly #tests = new FairSlots(TESTS)
  readonly #testsOfAccount = new RateLimit(TESTS_OF_ACCOUNT)
  readonly #testsToHost = new RateLimit(TESTS_TO_HOST)

  constructor(options: WatchesOptions) {
    this.#options = options
    this.notifiers = new Notifiers({ ...options, slots: new DeliverySlots() }, options.failed)
  }

  /** @throws HttpError 409 if the account already has `MAX_WATCHES` */
  async create(accountId: number, request: WatchRequest): Promise<NewWatch> {
    const { clock, database, pages } = this.#options
    const id = randomBytes(9).toString('base64url')
    const secret = request.url === undefined ? undefined : newSecret()
    const feedToken = request.atom ? randomBytes(20).toString('base64url') : undefined
    // Changes committed from now on are new.
    const cursor = await pages.head()
    await database.transaction(async (tx) => {
      // Serialises concurrent requests of an account, so that they cannot exceed the limit together.
      await tx.all(queries.lockAccount(accountId, database.dialect.forUpdate))
      const { count = 0 } = (await tx.first(queries.countWatches(accountId))) ?? {}
      if (count >= MAX_WATCHES) throw new HttpError(409, `La cuenta ya tiene ${MAX_WATCHES} vigilancias`)
      await tx.run(
        queries.insertWatch({
          id,
          accountId,
          name: request.name,
          filters: JSON.stringify(request.filters),
          changes: request.changes,
          now: clock.now(),
          url: request.url ?? null,
          secret: secret ?? null,
          feedDigest: feedToken === undefined ? null : digestOf(feedToken),
          cursor,
        }),
      )
    }, accountId)
    this.notifiers.wakeup.wakeAll()
    return { id, secret, feedToken }
  }

  async list(accountId: number) {
    const rows = await this.#options.database.all(queries.watchesOf(accountId, MAX_WATCHES))
    return rows.map(watchJson)
  }

  async remove(accountId: number, id: string): Promise<boolean> {
    const isRemoved = await writeOne(this.#options.database, queries.deleteWatch(accountId, id))
    this.notifiers.wakeup.wakeAll()
    return isRemoved
  }

  /**
   * Sends a test delivery. If it succeeds, deliveries to a receiver that was given up resume.
   * @returns undefined if the account has no such watch, or it has no webhook
   * @throws HttpError 429 above the rate of the account or of the receiving host; OverloadError when too many tests wait
   */
  async test(accountId: number, watch: string): Promise<Outcome | undefined> {
    const { clock, database, send } = this.#options
    const row = await database.first(queries.ownWatch(accountId, watch))
    if (row === undefined || row.url === null || row.secret === null) return undefined
    const webhook = {
      id: newWebhookId(),
      body: testPayload(row, clock.now()),
      url: row.url,
      secret: row.secret,
    }
    this.#countTest(String(accountId), new URL(row.url).hostname)
    const outcome = await this.#tests.run(String(accountId), () =>
      send(webhook, new AbortController().signal),
    )
    if (outcome.kind === 'delivered') {
      await writeOne(database, queries.revive(row.id))
      this.notifiers.wakeup.wakeAll()
    }
    return outcome
  }

  #countTest(account: string, host: string): void {
    const wait = Math.max(this.#testsOfAccount.waitOf(account), this.#testsToHost.waitOf(host))
    if (wait > 0) {
      const headers = { 'retry-after': String(Math.ceil(wait / 1000)) }
      throw new HttpError(429, 'Demasiadas solicitudes', { headers })
    }
    this.#testsOfAccount.count(account)
    this.#testsToHost.count(host)
  }

  /** Returns the feed of a token and the filters of its watch, or undefined if there is none. */
  async feed(token: string, sheetUrl: (name: string) => string) {
    const { clock, database } = this.#options
    const row = await database.first(queries.feedByDigest(digestOf(token), clock.now()))
    if (row === undefined) return undefined
    const title = `Dominios .cl: ${row.name}`
    const feed = atomFeed(`vigilancia ${row.id}`, title, entriesOf(row.feed), sheetUrl)
    return { feed, filters: savedOf(row.filters) }
  }
}

function watchJson(row: queries.WatchRow) {
  return {
    id: row.id,
    name: row.name,
    filters: savedOf(row.filters),
    changes: row.changes,
    created: iso(row.created_at),
    url: row.url,
    atom: row.feed_digest === null ? 0 : 1,
    state: row.state,
    pending: row.delivery_id === null ? 0 : 1,
    attempts: row.attempts,
    next_attempt: row.state === 'active' && row.next_at > 0 ? iso(row.next_at) : null,
    last_delivery: row.delivered_at === null ? null : iso(row.delivered_at),
    last_error: row.last_error,
    last_error_at: row.last_error_at === null ? null : iso(row.last_error_at),
  }
}

const iso = (time: number) => new Date(time).toISOString()

/** Tokens are random, so a plain hash suffices to make a leaked database useless. */
const digestOf = (token: string) => hash('sha256', token)
