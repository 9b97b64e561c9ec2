import type { HttpServer } from '../http/server.ts'
import type { EndpointShared } from '../http/endpoint.ts'
import { activityRoute, historyRoute } from './routes/history.ts'
import { batchRoutes } from './routes/batches.ts'
import { bulkRoutes } from './routes/jobs.ts'
import { campaignsRoute, statsRoute } from './routes/stats.ts'
import { confirmMailRoute, watchAtomRoute } from './routes/watch-links.ts'
import { dismissedRoute } from './routes/dismissed.ts'
import { bulkDnsRoute, dnsRoute } from './routes/dns.ts'
import { eventsRoute } from './routes/events.ts'
import { exportRoute, listRoute, similarRoute } from './routes/list.ts'
import { feedsRoute, importRoutes } from './routes/imports.ts'
import { interestRoute, queueRoute } from './routes/queue.ts'
import { rulesRoutes, viewsRoutes } from './routes/saved-filters.ts'
import { watchRoutes } from './routes/watches.ts'
import { openServices, type AddRoutes, type DomainwatchOptions } from './services.ts'

export { Feeds, feedStatuses, type FeedStatus } from './feeds/index.ts'
export { Jobs } from './jobs/index.ts'
export { Rechecks } from './rechecks.ts'
export { hasToRemind, remindOfObjections } from './watches/watch-filters.ts'
export { watchWebhooks } from './routes/watch-schemas.ts'
export {
  openSubscriptions,
  type Subscriptions,
  createObservations,
  type DomainwatchOptions,
} from './services.ts'
export { BATCH_BODY_BYTES } from './routes/batches.ts'
export { hasExpired, hasOldDeliveries, purgeExpired, sweepDeliveries, sweepHistory } from './purge.ts'
export { releaseClaims } from './queue.ts'
export { NameIndex } from './list/name-index.ts'
export { announceFreed, hasToAnnounce, noteTimeZone } from './registry/apply-list.ts'
export { Interest } from './interest/index.ts'
export { Rules } from './rules/index.ts'
export { readDictionary } from './words.ts'

/** In the order of the OpenAPI document. */
const ROUTES: readonly AddRoutes[] = [
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
  watchRoutes,
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
