import { hash, randomBytes } from 'node:crypto'
import { Slots } from '../../core/queue.ts'
import type { Clock } from '../../core/clock.ts'
import { Refusal } from '../../core/errors.ts'
import type { Database } from '../../database/database.ts'
import { atomFeed } from '../events/atom.ts'
import type { EventPages } from '../events/pages.ts'
import { entriesOf } from './feed-teller.ts'
import { Lanes } from './lanes.ts'
import { testPayload } from './payload.ts'
import * as queries from './queries.ts'
import { Tellers } from './tellers.ts'
import { savedOf, type Changes, type SavedFilters } from './watched.ts'
import { writeOne } from './webhook-teller.ts'
import type { Outcome, Send } from './webhook/send.ts'
import { newSecret, newWebhookId } from './webhook/sign.ts'

/** Watches of an account. */
const MAX_WATCHES = 50
/** Tests under way, and in line, in this process. */
const MAX_TESTS = 8
const MAX_WAITING_TESTS = 32
const TEST_WAIT_MS = 10_000

export interface WatchesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly pages: EventPages
  readonly send: Send
  readonly failed: (error: unknown) => void
}

export interface WatchRequest {
  readonly name: string
  readonly filters: SavedFilters
  readonly changes: Changes
  readonly url: string | undefined
  readonly atom: boolean
}

/** What is shown of a new watch, once. */
export interface NewWatch {
  readonly id: string
  readonly secret: string | undefined
  readonly feedToken: string | undefined
}

/** Saved filters of accounts, and how they are told of what is new. */
export class Watches {
  readonly tellers: Tellers
  readonly #options: WatchesOptions
  readonly #tests = new Slots(MAX_TESTS, MAX_WAITING_TESTS, TEST_WAIT_MS)

  constructor(options: WatchesOptions) {
    this.#options = options
    this.tellers = new Tellers({ ...options, lanes: new Lanes() }, options.failed)
  }

  /** @throws Refusal 409 when the account has all it may have */
  async create(accountId: number, request: WatchRequest): Promise<NewWatch> {
    const { clock, database, pages } = this.#options
    const id = randomBytes(9).toString('base64url')
    const secret = request.url === undefined ? undefined : newSecret()
    const feedToken = request.atom ? randomBytes(20).toString('base64url') : undefined
    // What is committed from now on is new.
    const cursor = await pages.head()
    await database.transaction(async (tx) => {
      // Two at once must not both be the last one.
      await tx.all(queries.lockAccount(accountId, database.dialect.forUpdate))
      const { count = 0 } = (await tx.first(queries.countWatches(accountId))) ?? {}
      if (count >= MAX_WATCHES) throw new Refusal(409, `La cuenta ya tiene ${MAX_WATCHES} vigilancias`)
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
    this.tellers.alarm.ring()
    return { id, secret, feedToken }
  }

  async list(accountId: number) {
    const rows = await this.#options.database.all(queries.watchesOf(accountId, MAX_WATCHES))
    return rows.map(shown)
  }

  async remove(accountId: number, id: string): Promise<boolean> {
    const isRemoved = await writeOne(this.#options.database, queries.deleteWatch(accountId, id))
    this.tellers.alarm.ring()
    return isRemoved
  }

  /**
   * Sends a test now. A receiver that was given up and answers it is told of changes again.
   * @returns undefined where the account has no such watch, or it has no webhook
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
    const outcome = await this.#tests.run(() => send(webhook, new AbortController().signal))
    if (outcome.kind === 'delivered') {
      await writeOne(database, queries.revive(row.id))
      this.tellers.alarm.ring()
    }
    return outcome
  }

  /** Undefined for a token that opens none. */
  async feed(token: string): Promise<string | undefined> {
    const row = await this.#options.database.first(queries.feedByDigest(digestOf(token)))
    return row && atomFeed(`vigilancia ${row.id}`, `Dominios .cl: ${row.name}`, entriesOf(row.feed))
  }
}

function shown(row: queries.WatchRow) {
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

const iso = (moment: number) => new Date(moment).toISOString()

/** A token is random: a plain hash keeps who reads the database from using it. */
const digestOf = (token: string) => hash('sha256', token)
