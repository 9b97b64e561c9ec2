import type { HttpServer } from '../http/server.ts'
import type { Clock } from '../lib/clock.ts'
import type { Gate } from '../lib/gate.ts'
import type { Tasks } from '../lib/tasks.ts'
import type { Database } from '../storage/database/database.ts'
import type { EndpointShared } from '../http/endpoint.ts'
import { DomainBatches } from './batches.ts'
import { DnsObservations } from './history/dns-observations.ts'
import type { ObservedType } from './history/queries.ts'
import { storeAddresses, storeObservations } from './history/store-observations.ts'
import { DomainLists } from './list/domain-lists.ts'
import { RecordFields } from './record-fields.ts'
import type { Subscriptions } from './subscriptions.ts'
import { activityRoute } from './routes/activity.ts'
import { Campaigns } from './campaigns/index.ts'
import { batchRoutes } from './routes/batches.ts'
import { bulkRoutes } from './routes/bulk.ts'
import { campaignsRoute } from './routes/campaigns.ts'
import { confirmMailRoute } from './routes/confirm-mail.ts'
import { dismissedRoute } from './routes/dismissed.ts'
import { bulkDnsRoute, dnsRoute } from './routes/dns.ts'
import type { Dns } from './dns-lookups.ts'
import { eventsRoute } from './routes/events.ts'
import { exportRoute, listRoute } from './routes/list.ts'
import type { Feeds } from './feeds/index.ts'
import { feedsRoute } from './routes/feeds.ts'
import { importRoutes } from './routes/imports.ts'
import type { Jobs } from './jobs/index.ts'
import { historyRoute } from './routes/history.ts'
import { interestRoute } from './routes/interest.ts'
import { queueRoute } from './routes/queue.ts'
import { similarRoute } from './routes/similar.ts'
import { rulesRoutes } from './routes/rules.ts'
import { statsRoute } from './routes/stats.ts'
import { viewsRoutes } from './routes/views.ts'
import { watchDeliveryRoutes } from './routes/watch-deliveries.ts'
import { watchEditRoutes, watchAtomRoute, watchesRoutes } from './routes/watches.ts'
import { ClaimQueue } from './queue/claim-queue.ts'
import { recordedNames, LookalikeSearch, type ReadNames } from './lookalikes/search.ts'
import { ObservedServers } from './servers/index.ts'
import { Statistics } from './stats/statistics.ts'
import type { NameIndex } from './list/name-index.ts'
import type { Interest } from './interest/index.ts'
import type { Rules } from './rules/index.ts'
import type { Dictionary } from './words/dictionary.ts'

export { allowAddresses } from '../deliveries/connect.ts'
export { download, DOWNLOAD_LIMITS } from './feeds/download.ts'
export { ListFault } from './import/source.ts'
export { Feeds, feedStatuses, type FeedStatus } from './feeds/index.ts'
export { Jobs } from './jobs/index.ts'
export { Rechecks } from './rechecks/index.ts'
export { hasOldDeliveries, sweepDeliveries } from './purge.ts'
export { hasToRemind, remindOfObjections } from './watches/reminders.ts'
export { watchWebhooks } from './schemas-watches.ts'
export { openSubscriptions, type Subscriptions } from './subscriptions.ts'
export { BATCH_BODY_BYTES } from './routes/batches.ts'
export { hasExpired, hasOldHistory, purgeExpired, sweepHistory } from './purge.ts'
export { releaseClaims } from './queue/claim-queue.ts'
export { NameIndex, type NameIndexStats } from './list/name-index.ts'
export { announceFreed, hasToAnnounce, noteTimeZone } from './registry/announce.ts'
export { Interest } from './interest/index.ts'
export { Rules } from './rules/index.ts'
export { readDictionary, type Dictionary } from './words/dictionary.ts'

export interface DomainwatchOptions {
  readonly database: Database
  readonly tasks: Tasks
  readonly clock: Clock
  readonly timeZone: string
  readonly baseUrl: () => string
  readonly dns: Dns
  readonly following: Subscriptions
  readonly feeds: Feeds
  readonly jobs: Jobs
  /** Records the answers of `dns`. */
  readonly observations: Observations
  /** The words that names are split into. */
  readonly dictionary: Dictionary
  /** The rules of the group. */
  readonly rules: Rules
  /** The taste of the group. */
  readonly interest: Interest
  /** Maximum concurrent DNS look-ups of bulk calls, and the same number of single ones. */
  readonly dnsInFlight: number
  /** What answers lists, counts, exports and the queue. */
  readonly nameIndex: NameIndex
  /** Searches that take long take turns, on the event loop that they share. */
  readonly searches: Gate
}

/** The answers of look-ups that the history keeps, by record type. */
type Observations = Readonly<Record<ObservedType | 'a' | 'aaaa', DnsObservations>>

/** @param failed called when observations could not be stored; the write is retried */
export function createObservations(
  database: Database,
  clock: Clock,
  failed: (error: unknown) => void,
): Observations {
  const of = (type: ObservedType) =>
    new DnsObservations({
      clock,
      failed,
      store: (batch) => database.transaction((tx) => storeObservations(tx, database.dialect, type, batch)),
    })
  const ofAddresses = () =>
    new DnsObservations({
      clock,
      failed,
      store: (batch) => database.transaction((tx) => storeAddresses(tx, database.dialect, batch)),
    })
  return { ns: of('ns'), mx: of('mx'), a: ofAddresses(), aaaa: ofAddresses() }
}

const fieldOptions = ({
  timeZone,
  dictionary,
  interest,
  nameIndex,
}: Pick<DomainwatchOptions, 'timeZone' | 'dictionary' | 'interest' | 'nameIndex'>) => ({
  timeZone,
  interest,
  split: dictionary.split,
  contextAt: nameIndex.contextAt,
})

/** What stores batches of records, of requests and of jobs. */
export function openBatches(
  options: Pick<
    DomainwatchOptions,
    | 'clock'
    | 'database'
    | 'dictionary'
    | 'interest'
    | 'nameIndex'
    | 'rules'
    | 'searches'
    | 'tasks'
    | 'timeZone'
  >,
): DomainBatches {
  const { clock, database, nameIndex, searches } = options
  const records = new RecordFields(database, clock, fieldOptions(options), searches)
  return new DomainBatches({ ...options, records, lists: nameIndex })
}

/** The domain-tracking API. */
export function domainwatchRoutes(
  app: HttpServer,
  shared: EndpointShared,
  options: DomainwatchOptions,
): void {
  const { database, tasks, clock, timeZone, baseUrl, dns, dnsInFlight } = options
  const { following, observations, dictionary, interest, nameIndex, rules, searches } = options
  const records = new RecordFields(database, clock, fieldOptions(options), searches)
  batchRoutes(app, shared, openBatches(options))
  const lists = new DomainLists(clock, nameIndex, interest, tasks, searches)
  const servers = new ObservedServers(database)
  listRoute(app, shared, lists, records, servers, baseUrl)
  exportRoute(app, shared, lists, records, servers, timeZone)
  const queue = new ClaimQueue({ database, clock, nameIndex, interest, rules, split: dictionary.split })
  queueRoute(app, shared, { queue, records, servers, tasks, timeZone })
  dismissedRoute(app, shared, { database, clock, tasks, timeZone, baseUrl })
  const names: ReadNames = (signal) => recordedNames(clock, nameIndex, signal)
  similarRoute(app, shared, new LookalikeSearch(database, clock, names, following.vocabulary, searches))
  const statistics = new Statistics({ database, clock, timeZone, nameIndex, rules, searches })
  statsRoute(app, shared, statistics, servers)
  const campaigns = new Campaigns({ database, clock, nameIndex, split: dictionary.split, searches })
  campaignsRoute(app, shared, campaigns, () => statistics.today())
  historyRoute(app, shared, { database, timeZone, baseUrl })
  activityRoute(app, shared, options)
  feedsRoute(app, shared, options)
  interestRoute(app, shared, interest)
  importRoutes(app, shared, options.jobs, timeZone)
  bulkRoutes(app, shared, { ...options, servers })
  rulesRoutes(app, shared, { ...options, lists })
  viewsRoutes(app, shared, options)
  const observed: Dns = {
    async nameServers(name, client) {
      const answer = await dns.nameServers(name, client)
      observations.ns.add(name, answer)
      return answer
    },
    async records(name, type, client) {
      const answer = await dns.records(name, type, client)
      if (type === 'mx') observations.mx.add(name, answer)
      else if (type === 'a' || type === 'aaaa') observations[type].add(name, answer)
      return answer
    },
  }
  dnsRoute(app, shared, observed, dnsInFlight)
  eventsRoute(app, shared, following.events, baseUrl)
  watchesRoutes(app, shared, following, baseUrl)
  watchEditRoutes(app, shared, following, { baseUrl, timeZone })
  watchDeliveryRoutes(app, shared, following.watches, { baseUrl, timeZone })
  watchAtomRoute(app, following.watches, baseUrl)
  confirmMailRoute(app, following.watches.recipients)
  bulkDnsRoute(app, shared, { tasks, dns: observed, inFlight: dnsInFlight })
}
