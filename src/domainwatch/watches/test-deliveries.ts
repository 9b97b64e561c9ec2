import type { Client } from '../../lib/client.ts'
import { accountClient } from '../../lib/client.ts'
import { isStorable } from '../../lib/text.ts'
import { tooManyRequests } from '../../lib/errors.ts'
import { Gate } from '../../lib/gate.ts'
import { RateLimit } from '../../lib/rate-limit.ts'
import type { Database } from '../../storage/database/database.ts'
import { domainErrors } from '../errors.ts'
import { attempt, newDeliveryId, type AttemptContext } from '../../deliveries/delivery-attempt.ts'
import { writeOne } from '../../deliveries/notification.ts'
import { destinationsOfWatch, revive, type DestinationState } from '../../deliveries/queries-destinations.ts'
import { failure, type Outcome } from '../../deliveries/transport.ts'
import type { Channel, Channels } from './channels/channel.ts'
import { notifiedWatch } from './watch-filters.ts'

/** Concurrent tests of watches in this process. One with a silent receiver takes 20 s, so an account gets only a few. */
const TESTS = { running: 32, perClient: 2, waiting: 64, waitingPerClient: 4, waitMs: 10_000 }
/** A client waits for the result. Channels over HTTP have a shorter limit of their own. */
const TIMEOUT_MS = 21_000
/** Rate limits of tests. The one per host protects receivers whose owner never asked for tests. */
const PER_ACCOUNT = { burst: 10, perSecond: 1 / 6, maxClients: 10_000 }
const PER_HOST = { burst: 20, perSecond: 1 / 3, maxClients: 10_000 }

interface TestContext extends AttemptContext<Channel> {
  readonly channels: Channels
  readonly database: Database
}

/** Deliveries that members of an account ask for, to see whether messages arrive. */
export class TestDeliveries {
  readonly #context: TestContext
  readonly #gate = new Gate(TESTS)
  readonly #perAccount = new RateLimit(PER_ACCOUNT)
  readonly #perHost = new RateLimit(PER_HOST)

  constructor(context: TestContext) {
    this.#context = context
  }

  /**
   * Sends a test to each destination of a watch, in the order of the watch.
   * @throws HttpError 404 if there are none; 429 above the rate of the account or of a receiving host; OverloadError when too many tests wait
   */
  async send(accountId: number, watch: string) {
    const { channels, database } = this.#context
    const destinations = isStorable(watch) ? await database.all(destinationsOfWatch(accountId, watch)) : []
    if (destinations.length === 0) throw domainErrors.watch_not_found()
    const hosts = destinations.map(({ channel, address }) => channels.get(channel)?.hostOf(address) ?? '')
    // Tests of a shared watch count for the account that created it, as its deliveries do.
    const owner = accountClient(destinations[0]?.account_id)
    this.#count(owner, new Set(hosts))
    return this.#gate.run(owner, () =>
      Promise.all(
        destinations.map(async (destination) => ({ destination, outcome: await this.#sendTo(destination) })),
      ),
    )
  }

  async #sendTo(row: DestinationState): Promise<Outcome> {
    const { channels, clock, database } = this.#context
    const channel = channels.get(row.channel)
    if (channel === undefined) return failure(domainErrors.channel_not_configured(row.channel).message)
    const body = channel.render(notifiedWatch(row), { kind: 'test', at: clock.now() }, row.address)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const delivery = { id: newDeliveryId(), body }
    const attempted = await attempt(this.#context, channel, row, delivery, signal, 'test').catch(
      (error: unknown) => {
        if (!signal.aborted) throw error
        return undefined
      },
    )
    const { outcome } = attempted ?? { outcome: failure('El receptor no respondió a tiempo') }
    if (outcome.kind === 'delivered') await writeOne(database, revive(row.id), row.account_id)
    return outcome
  }

  #count(account: Client, hosts: ReadonlySet<string>): void {
    const waits = [...hosts].map((host) => this.#perHost.waitOf(host))
    const wait = Math.max(this.#perAccount.waitOf(account), ...waits)
    if (wait > 0) throw tooManyRequests(Math.ceil(wait / 1000))
    this.#perAccount.count(account)
    for (const host of hosts) this.#perHost.count(host)
  }
}
