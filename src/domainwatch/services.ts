import type { EndpointShared } from '../http/endpoint.ts'
import type { HttpServer } from '../http/server.ts'
import type { Clock } from '../lib/clock.ts'
import type { Gate } from '../lib/gate.ts'
import type { Database } from '../storage/database/database.ts'
import { DomainBatches } from './batches.ts'
import { DnsObservations, storeObservations } from './history/observations.ts'
import type { ObservedType } from './history/queries.ts'
import { DomainLists } from './list/domain-lists.ts'
import { RecordFields } from './record-fields.ts'
import type { DomainContext } from './context.ts'
import { Campaigns } from './campaigns.ts'
import type { Dns } from './dns-lookups.ts'
import type { Feeds } from './feeds/index.ts'
import type { Jobs } from './jobs/index.ts'
import { ClaimQueue } from './queue.ts'
import { LookalikeSearch } from './lookalikes.ts'
import { ObservedServers } from './servers.ts'
import { readVocabulary } from './words.ts'
import type { DeliveryGates } from '../deliveries/delivery-attempt.ts'
import { ConsoleLinks } from './texts.ts'
import type { ChangeReading } from './events/event.ts'
import { Events } from './events/index.ts'
import type { Vocabulary } from '../lib/lookalikes/index.ts'
import type { Channels } from './watches/message.ts'
import { openChannels, type ChannelSettings } from './watches/channels/index.ts'
import { Watches } from './watches/index.ts'
import { allowAddresses } from '../deliveries/http-client.ts'

export interface DomainwatchOptions extends DomainContext {
  readonly baseUrl: () => string
  readonly dns: Dns
  readonly following: Subscriptions
  readonly feeds: Feeds
  readonly jobs: Jobs
  /** Records the answers of `dns`. */
  readonly observations: Observations
  /** Maximum concurrent DNS look-ups of bulk calls, and the same number of single ones. */
  readonly dnsInFlight: number
}

/** The answers of look-ups that the history keeps, by record type. */
type Observations = Readonly<Record<ObservedType | 'a' | 'aaaa', DnsObservations>>

/** @param failed called when observations could not be stored; the write is retried */
export function createObservations(
  database: Database,
  clock: Clock,
  failed: (error: unknown) => void,
): Observations {
  const of = (type: ObservedType | 'ip') =>
    new DnsObservations({
      clock,
      failed,
      store: (batch) => database.transaction((tx) => storeObservations(tx, database.dialect, type, batch)),
    })
  return { ns: of('ns'), mx: of('mx'), a: of('ip'), aaaa: of('ip') }
}

/** What the endpoints of domain tracking answer from. */
type DomainServices = ReturnType<typeof openServices>

/** Adds endpoints of domain tracking. */
export type AddRoutes = (app: HttpServer, shared: EndpointShared, services: DomainServices) => void

export function openServices(options: DomainwatchOptions) {
  const { clock, following, interest, nameIndex, searches } = options
  return {
    ...options,
    batches: new DomainBatches(options),
    campaigns: new Campaigns(options),
    dns: observed(options),
    lists: new DomainLists(clock, nameIndex, interest, searches),
    lookalikes: new LookalikeSearch({ ...options, vocabulary: following.vocabulary }),
    queue: new ClaimQueue(options),
    records: new RecordFields(options),
    servers: new ObservedServers(options.database),
  }
}

/** Records the answers of look-ups. */
const observed = ({ dns, observations }: DomainwatchOptions): Dns => ({
  async nameServers(name) {
    const answer = await dns.nameServers(name)
    observations.ns.add(name, answer)
    return answer
  },
  async records(name, type) {
    const answer = await dns.records(name, type)
    if (type === 'mx') observations.mx.add(name, answer)
    else if (type === 'a' || type === 'aaaa') observations[type].add(name, answer)
    return answer
  },
})

interface SubscriptionsOptions {
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
