import { iso, isoOrNull, isRetried, toDeliveryState } from '../../deliveries/delivery-state.ts'
import type { Channels } from './channels/channel.ts'
import type { Outcome } from '../../deliveries/transport.ts'
import { HIDDEN_ADDRESS, showDestination } from './destinations.ts'
import type { DestinationRow } from '../../deliveries/queries-destinations.ts'
import type { WatchRow } from './queries.ts'
import { parseSavedFilters } from '../saved-filters.ts'

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
