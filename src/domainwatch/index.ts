import type { HttpServer } from '../http/server.ts'
import type { EndpointShared } from '../http/endpoint.ts'
import { activityRoute } from './routes/activity.ts'
import { batchRoutes } from './routes/batches.ts'
import { bulkRoutes } from './routes/bulk.ts'
import { campaignsRoute } from './routes/campaigns.ts'
import { confirmMailRoute } from './routes/confirm-mail.ts'
import { dismissedRoute } from './routes/dismissed.ts'
import { bulkDnsRoute, dnsRoute } from './routes/dns.ts'
import { eventsRoute } from './routes/events.ts'
import { exportRoute, listRoute } from './routes/list.ts'
import { feedsRoute } from './routes/feeds.ts'
import { importRoutes } from './routes/imports.ts'
import { historyRoute } from './routes/history.ts'
import { interestRoute } from './routes/interest.ts'
import { queueRoute } from './routes/queue.ts'
import { similarRoute } from './routes/similar.ts'
import { rulesRoutes } from './routes/rules.ts'
import { statsRoute } from './routes/stats.ts'
import { viewsRoutes } from './routes/views.ts'
import { watchDeliveryRoutes } from './routes/watch-deliveries.ts'
import { watchEditRoutes, watchAtomRoute, watchesRoutes } from './routes/watches.ts'
import { openServices, type DomainwatchOptions } from './services.ts'

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
export { NameIndex } from './list/name-index.ts'
export { announceFreed, hasToAnnounce, noteTimeZone } from './registry/announce.ts'
export { Interest } from './interest/index.ts'
export { Rules } from './rules/index.ts'
export { readDictionary } from './words/dictionary.ts'
export { createObservations, openBatches, type DomainwatchOptions } from './services.ts'

/** In the order of the OpenAPI document. */
const ROUTES = [
  batchRoutes,
  listRoute,
  exportRoute,
  queueRoute,
  dismissedRoute,
  similarRoute,
  statsRoute,
  campaignsRoute,
  historyRoute,
  activityRoute,
  feedsRoute,
  interestRoute,
  importRoutes,
  bulkRoutes,
  rulesRoutes,
  viewsRoutes,
  dnsRoute,
  eventsRoute,
  watchesRoutes,
  watchEditRoutes,
  watchDeliveryRoutes,
  watchAtomRoute,
  confirmMailRoute,
  bulkDnsRoute,
]

/** The domain-tracking API. */
export function domainwatchRoutes(
  app: HttpServer,
  shared: EndpointShared,
  options: DomainwatchOptions,
): void {
  const services = openServices(options)
  for (const addTo of ROUTES) addTo(app, shared, services)
}
