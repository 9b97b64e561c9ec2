import type { Channels, Channel } from './message.ts'
import { type Outcome, CHANNEL_NAMES, type Destination, failure } from '../../deliveries/transport.ts'
import {
  type DestinationRow,
  countDestinations,
  destinationsOfWatch,
  revive,
  type DestinationState,
} from '../../deliveries/queries.ts'
import type { WatchRow } from './queries.ts'
import { parseSavedFilters } from '../filters.ts'
import { badParameter } from '../../http/errors.ts'
import type { Transaction, Database } from '../../storage/database/database.ts'
import { domainErrors } from '../errors.ts'
import { type Client, accountClient } from '../../lib/client.ts'
import { isStorable } from '../../lib/text.ts'
import { tooManyRequests } from '../../lib/errors.ts'
import { Gate } from '../../lib/gate.ts'
import { RateLimit } from '../../lib/rate-limit.ts'
import {
  attempt,
  newDeliveryId,
  type AttemptContext,
  iso,
  isoOrNull,
  isRetried,
  toDeliveryState,
} from '../../deliveries/delivery-attempt.ts'
import { writeOne } from '../../deliveries/change-pages.ts'
import { notifiedWatch } from './watch-filters.ts'

/** Destinations of a watch, its webhook included. */
export const MAX_DESTINATIONS = 10
/** Destinations of all watches of an account. */
const MAX_OF_ACCOUNT = 100
export const MAX_TO_CHARACTERS = 16_384
const PREFIXES = CHANNEL_NAMES.filter((name) => name !== 'webhook')
/** Written when it is needed: opening the format takes 10 ms. */
const takesList = () =>
  `debe ser una lista separada por comas de ${new Intl.ListFormat('es', { type: 'disjunction' }).format(
    PREFIXES.map((name) => `${name}:…`),
  )}`

/**
 * Reads the destinations in `to`. One that is shown without its secret part stands for the known destination shown so.
 * @param known destinations that the watch has
 * @throws HttpError 400 for a destination that cannot be used, and for too many
 */
export function parseDestinations(
  to: string,
  channels: Channels,
  known: readonly Destination[] = [],
): readonly Destination[] {
  const left = [...known]
  const found = new Map<string, Destination>()
  for (const entry of to.split(',').map((part) => part.trim())) {
    if (entry === '' && to.trim() === '') continue
    const at = left.findIndex((one) => showDestination(one, channels, true) === entry)
    const destination = at < 0 ? parseDestination(entry, channels) : left.splice(at, 1)[0]
    if (destination !== undefined) found.set(`${destination.channel}:${destination.address}`, destination)
  }
  return [...found.values()]
}

/** @throws HttpError 400 */
export function assertFewDestinations(destinations: readonly Destination[]): void {
  if (destinations.length > MAX_DESTINATIONS) throw domainErrors.too_many_destinations(MAX_DESTINATIONS)
}

/**
 * To be called after the change, with the account locked.
 * @throws HttpError 409
 */
export async function assertAccountLimit(tx: Transaction, accountId: number): Promise<void> {
  const { count = 0 } = (await tx.first(countDestinations(accountId))) ?? {}
  if (count > MAX_OF_ACCOUNT) throw domainErrors.too_many_account_destinations(MAX_OF_ACCOUNT)
}

/** Replaces an address that its reader may not see. */
const HIDDEN_ADDRESS = '…'

/** Returns a destination as `to` has it: without what is secret for its owner, and without the address for others. */
export function showDestination(
  { channel, address }: Destination,
  channels: Channels,
  isOwner: boolean,
): string {
  // An operator may have removed a channel from the settings.
  const shown = isOwner ? channels.get(channel)?.showAddress(address) : undefined
  return `${channel}:${shown ?? HIDDEN_ADDRESS}`
}

/** @throws HttpError 400 for an address to which no webhook may be sent */
export function parseWebhookAddress(url: string, channels: Channels): string {
  const parsed = channels.get('webhook')?.parseAddress(url)
  if (parsed?.ok === true) return parsed.address
  throw badParameter('url', parsed?.ok === false ? parsed.takes : 'no se puede usar')
}

/** @throws HttpError 400 */
function parseDestination(entry: string, channels: Channels): Destination {
  const [, prefix = '', text = ''] = /^([a-z]+):(.+)$/s.exec(entry) ?? []
  const name = PREFIXES.find((one) => one === prefix)
  if (name === undefined) throw badParameter('to', takesList())
  const parsed = channels.get(name)?.parseAddress(text) ?? { ok: 'unconfigured' }
  if (parsed.ok === 'unconfigured') throw domainErrors.channel_not_configured(name)
  if (!parsed.ok) throw badParameter('to', parsed.takes)
  return { channel: name, address: parsed.address }
}

/**
 * Returns a watch as an account sees it. What is said of deliveries is the worst or the latest of all destinations.
 * @param isOwner whether the account may see its addresses
 */
export function watchJson(
  row: WatchRow,
  destinations: readonly DestinationRow[],
  channels: Channels,
  isOwner: boolean,
) {
  const webhook = destinations.find(({ channel }) => channel === 'webhook')
  const retries = destinations.filter(isRetried)
  const people = destinations.filter(({ channel }) => channel !== 'webhook')
  const to = people.map((one) => showDestination(one, channels, isOwner))
  const latestError = latest(destinations, ({ last_error_at }) => last_error_at)
  return {
    id: row.id,
    name: row.name,
    filters: parseSavedFilters(row.filters),
    changes: row.changes,
    owner: row.owner,
    shared: row.shared,
    paused: row.paused,
    created: iso(row.created_at),
    url: webhook === undefined ? null : isOwner ? webhook.address : HIDDEN_ADDRESS,
    to: to.length === 0 ? null : to.join(','),
    language: row.language,
    digest: row.digest,
    next_digest: row.digest === null || row.paused === 1 ? null : earliest(destinations.filter(isScheduled)),
    atom: row.feed_digest === null ? 0 : 1,
    state: destinations.some(({ state }) => state === 'dead') ? 'dead' : 'active',
    pending: destinations.some(({ delivery_id }) => delivery_id !== null) ? 1 : 0,
    attempts: Math.max(0, ...destinations.map(({ attempts }) => attempts)),
    next_attempt: earliest(retries),
    last_delivery: isoOrNull(latest(destinations, ({ delivered_at }) => delivered_at)?.delivered_at),
    last_error: latestError?.last_error ?? null,
    last_error_at: isoOrNull(latestError?.last_error_at),
    destinations: destinations.map((one) => destinationJson(one, channels, isOwner)),
  }
}

function destinationJson(row: DestinationRow, channels: Channels, isOwner: boolean) {
  return {
    channel: row.channel,
    to: showDestination(row, channels, isOwner),
    ...(row.channel === 'mailto' && { confirmed: row.confirmed }),
    ...toDeliveryState(row),
  }
}

/** Returns the earliest `next_at`; null without destinations. */
const earliest = (destinations: readonly DestinationRow[]): string | null =>
  destinations.length === 0 ? null : iso(Math.min(...destinations.map(({ next_at }) => next_at)))

const isScheduled = ({ state, next_at, delivery_id }: DestinationRow): boolean =>
  state === 'active' && next_at > 0 && delivery_id === null

/** Returns the outcome of a test as members see it. */
export function outcomeJson(outcome: Outcome) {
  const { kind, code = null } = outcome
  return kind === 'delivered'
    ? { delivered: 1, code, error: null }
    : { delivered: 0, code, error: outcome.error }
}

function latest(
  destinations: readonly DestinationRow[],
  timeOf: (one: DestinationRow) => number | null,
): DestinationRow | undefined {
  return destinations
    .filter((one) => timeOf(one) !== null)
    .toSorted((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0))[0]
}

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
