import type { FastifyInstance } from 'fastify'
import type { Clock } from '../core/clock.ts'
import type { Tasks } from '../core/tasks.ts'
import type { Database } from '../database/database.ts'
import type { EndpointShared } from '../http/endpoint.ts'
import { DomainBatches } from './batches.ts'
import { DomainLists } from './list.ts'
import { addRoute } from './routes/add.ts'
import { dnsRoute, type NameServers } from './routes/dns.ts'
import { listRoute } from './routes/list.ts'
import { updateRoute } from './routes/update.ts'

export { BATCH_BODY_BYTES } from './routes/add.ts'
export { hasExpired, purgeExpired } from './purge.ts'

export interface DomainwatchOptions {
  readonly database: Database
  readonly tasks: Tasks
  readonly clock: Clock
  readonly timeZone: string
  readonly baseUrl: () => string
  readonly nameServers: NameServers
}

/** The domain-tracking API. */
export function domainwatchRoutes(
  app: FastifyInstance,
  shared: EndpointShared,
  options: DomainwatchOptions,
): void {
  const { database, tasks, clock, timeZone, baseUrl, nameServers } = options
  const batches = new DomainBatches(database, tasks, clock, timeZone)
  addRoute(app, shared, batches)
  updateRoute(app, shared, batches)
  listRoute(app, shared, new DomainLists(database, clock), baseUrl)
  dnsRoute(app, shared, nameServers)
}
