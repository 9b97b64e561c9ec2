import type { DeliveryGates } from '../deliveries/delivery-gates.ts'
import type { Gate } from '../lib/gate.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { ConsoleLinks } from './console-links.ts'
import type { ChangeReading } from './events/event.ts'
import { Events } from './events/index.ts'
import type { Vocabulary } from '../lib/lookalikes/index.ts'
import { readVocabulary } from './lookalikes/vocabulary.ts'
import type { Channels } from './watches/channels/channel.ts'
import { openChannels, type ChannelSettings } from './watches/channels/index.ts'
import { Watches } from './watches/index.ts'
import { allowAddresses } from '../deliveries/connect.ts'

export interface SubscriptionsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly reading: ChangeReading
  /** Event streams that this process serves at a time. */
  readonly maxStreams: number
  readonly searches: Gate
  readonly gates: DeliveryGates
  /** Private networks that webhooks may be sent to. */
  readonly webhookNetworks: readonly string[]
  readonly userAgent: string
  readonly channels: ChannelSettings
  readonly timeZone: string
  readonly baseUrl: () => string
  /** Words to add to the phishing keywords; with a leading hyphen, to remove from them. */
  readonly phishingKeywords: readonly string[]
  readonly failed: (what: string, error: unknown) => void
}

/** Everything that is notified of changes of records: event streams, Atom feeds and watches. */
export interface Subscriptions {
  readonly events: Events
  readonly watches: Watches
  /** Where watches can send messages. */
  readonly channels: Channels
  /** Classifies the words next to a name when lookalikes are searched. */
  readonly vocabulary: Vocabulary
}

export function openSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { clock, database, failed, userAgent } = options
  const vocabulary = readVocabulary(options.phishingKeywords)
  const isAllowedAddress = allowAddresses(options.webhookNetworks)
  const events = new Events({ ...options, failed: (error) => failed('changes could not be read', error) })
  const channels = openChannels(options.channels, {
    isAllowedAddress,
    userAgent,
    clock,
    links: new ConsoleLinks(options.baseUrl),
  })
  const watches = new Watches({
    database,
    clock,
    pages: events.pages,
    channels,
    gates: options.gates,
    timeZone: options.timeZone,
    vocabulary,
    failed: (error) => failed('notifications of a watch failed', error),
  })
  return { events, watches, channels, vocabulary }
}
