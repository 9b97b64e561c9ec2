import type { FastifyInstance } from 'fastify'
import type { Clock } from '../core/clock.ts'
import type { Tasks } from '../core/tasks.ts'
import type { Database } from '../database/database.ts'
import type { EndpointShared } from '../http/endpoint.ts'
import { DomainBatches } from './batches.ts'
import { DomainLists } from './list.ts'
import type { Following } from './following.ts'
import { addRoute } from './routes/add.ts'
import { bulkDnsRoute, dnsRoute, type NameServers } from './routes/dns.ts'
import { eventsRoute } from './routes/events.ts'
import { exportRoute } from './routes/export.ts'
import { listRoute } from './routes/list.ts'
import { similarRoute } from './routes/similar.ts'
import { statsRoute } from './routes/stats.ts'
import { watchFeedRoute } from './routes/watch-feed.ts'
import { watchesRoutes } from './routes/watches.ts'
import { updateRoute } from './routes/update.ts'
import { databaseNames } from './similar/database-names.ts'
import { LookalikeSearch } from './similar/lookalikes.ts'
import { Statistics } from './stats/statistics.ts'

export { EXPORT_FORMATS, exportText } from './export.ts'
export { openFollowing, type Following } from './following.ts'
export { IMPORT_FORMATS } from './import/format.ts'
export { importLines, type ImportCounts, type ImportOutcome } from './import/importer.ts'
export { readLines } from './import/lines.ts'
export { dryRun, storeRows } from './import/store.ts'
export { DomainLists } from './list.ts'
export { BATCH_BODY_BYTES } from './routes/add.ts'
export { hasExpired, purgeExpired } from './purge.ts'

export interface DomainwatchOptions {
  readonly database: Database
  readonly tasks: Tasks
  readonly clock: Clock
  readonly timeZone: string
  readonly baseUrl: () => string
  readonly nameServers: NameServers
  readonly following: Following
}

/** The domain-tracking API. */
export function domainwatchRoutes(
  app: FastifyInstance,
  shared: EndpointShared,
  options: DomainwatchOptions,
): void {
  const { database, tasks, clock, timeZone, baseUrl, nameServers, following } = options
  const batches = new DomainBatches(database, tasks, clock, timeZone)
  addRoute(app, shared, batches)
  updateRoute(app, shared, batches)
  const lists = new DomainLists(database, clock)
  listRoute(app, shared, lists, baseUrl)
  exportRoute(app, shared, lists)
  similarRoute(app, shared, new LookalikeSearch(database, clock, () => databaseNames(database, clock)))
  statsRoute(app, shared, new Statistics(database, clock, timeZone))
  dnsRoute(app, shared, nameServers)
  bulkDnsRoute(app, shared, nameServers)
  eventsRoute(app, shared, following.events)
  watchesRoutes(app, shared, following, baseUrl)
  watchFeedRoute(app, following.watches)
}
