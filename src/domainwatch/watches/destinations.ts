import { iso, isoOrNull, isRetried, toDeliveryState } from '../../deliveries/delivery-state.ts'
import type { Channels } from './channels/channel.ts'
import { type Outcome, CHANNEL_NAMES, type Destination } from '../../deliveries/transport.ts'
import { type DestinationRow, countDestinations } from '../../deliveries/queries-destinations.ts'
import type { WatchRow } from './queries.ts'
import { parseSavedFilters } from '../saved-filters.ts'
import { badParameter } from '../../http/errors.ts'
import type { Transaction } from '../../storage/database/database.ts'
import { domainErrors } from '../errors.ts'

/** Destinations of a watch, its webhook included. */
export const MAX_DESTINATIONS = 10
/** Destinations of all watches of an account. */
const MAX_OF_ACCOUNT = 100
/** Characters of `to`. */
export const MAX_TO_CHARACTERS = 16_384
const PREFIXES = CHANNEL_NAMES.filter((name) => name !== 'webhook')
const TAKES_LIST = `debe ser una lista separada por comas de ${new Intl.ListFormat('es', {
  type: 'disjunction',
}).format(PREFIXES.map((name) => `${name}:…`))}`

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
  if (name === undefined) throw badParameter('to', TAKES_LIST)
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

/** Returns the destination with the latest time; undefined if none has one. */
function latest(
  destinations: readonly DestinationRow[],
  timeOf: (one: DestinationRow) => number | null,
): DestinationRow | undefined {
  return destinations
    .filter((one) => timeOf(one) !== null)
    .toSorted((a, b) => (timeOf(b) ?? 0) - (timeOf(a) ?? 0))[0]
}
