import { badParameter } from '../../http/errors.ts'
import type { Transaction } from '../../storage/database/database.ts'
import { domainErrors } from '../errors.ts'
import { CHANNEL_NAMES, type Destination } from '../../deliveries/transport.ts'
import type { Channels } from './channels/channel.ts'
import { countDestinations } from '../../deliveries/queries-destinations.ts'

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
export const HIDDEN_ADDRESS = '…'

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
