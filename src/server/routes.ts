import type { FastifyInstance } from 'fastify'
import { serviceRoutes } from '../http/service-routes.ts'
import { adminRoutes } from '../admin/index.ts'
import { consoleRoutes } from '../console/index.ts'
import { type Context } from './context.ts'
import { diagnose } from './doctor/index.ts'
import { perProcessShare } from '../lib/concurrency.ts'
import {
  BATCH_BODY_BYTES,
  createObservations,
  domainwatchRoutes,
  type Feeds,
  type Jobs,
  releaseClaims,
  type Subscriptions,
  watchWebhooks,
} from '../domainwatch/index.ts'
import { Authenticator, failureLimit } from '../http/auth/authenticator.ts'
import { createBodyBudget } from '../http/body/budget.ts'
import { addressClient, type Peer } from '../http/client.ts'
import { claimFromDatabase, KeyRateLimit } from '../http/auth/key-rate-limit.ts'
import { RequestTurns } from '../http/connection-limits.ts'
import { createServer } from '../http/server.ts'
import {
  createAccountPolicies,
  hookWebhooks,
  imagestoreRoutes,
  maxBodyBytes,
  type Imagestore,
} from '../imagestore/index.ts'
import { VERSION } from '../lib/version.ts'

/** Open connections of all processes together. */
const MAX_CONNECTIONS = 20_000

/** Creates the server with all routes, without listening. `openapi.json` is generated from it. */
export async function createRoutes(
  context: Context,
  images: Imagestore,
  following: Subscriptions,
  work: { readonly feeds: Feeds; readonly jobs: Jobs },
  baseUrl: () => string,
): Promise<FastifyInstance> {
  const { accounts, clock, config, database, dictionary, dns, limits, log, metrics, nameIndex, tasks } =
    context
  const minRate = { bytesPerSecond: limits.bodyMinBytesPerSecond, windowMs: limits.bodyRateWindowMs }
  const memoryFraction = 1 / config.workers
  const bodies = createBodyBudget({
    minRate,
    largestBody: Math.max(maxBodyBytes(config.maxImageBytes), BATCH_BODY_BYTES),
    memoryFraction,
  })
  const unauthenticated = new RequestTurns<Peer>(({ ip }) => addressClient(ip))
  const server = await createServer({
    log,
    metrics,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    maxConnections: perProcessShare(MAX_CONNECTIONS, config.workers),
    clientConnections: perProcessShare(limits.clientConnections, config.workers),
    clientLogLines: perProcessShare(limits.clientLogLines, config.workers),
    version: VERSION,
    webhooks: { ...watchWebhooks, ...hookWebhooks },
    minRate,
    unauthenticated,
    memoryFraction,
  })
  const failures = failureLimit(perProcessShare(config.failedKeys, config.workers), clock)
  const keyRateLimit = new KeyRateLimit(clock, claimFromDatabase(database))
  context.onClose(() => keyRateLimit.close())
  const observations = createObservations(database, clock, (error) =>
    log.error({ err: error }, 'DNS answers could not be stored in the history'),
  )
  context.onClose(async () => {
    for (const one of Object.values(observations)) await one.close()
  })
  metrics.measure({
    catalejo_sightings_lost_total: [
      'DNS answers missing from the history because the database did not keep up',
      () => Object.values(observations).reduce((sum, { lost }) => sum + lost, 0),
    ],
  })
  const shared = {
    authenticator: new Authenticator({
      identities: accounts,
      failures,
      keyRateLimit,
      unauthenticated,
      clock,
    }),
    audit: context.audit,
    bodies,
  }
  const prefix = config.baseUrl === '' ? '' : new URL(config.baseUrl).pathname.replace(/\/$/, '')
  await server.register(
    async (app) => {
      consoleRoutes(app, {
        prefix,
        timeZone: config.timeZone,
        channels: [...following.channels.keys()],
        authHeader: config.authHeader,
        trustedProxies: config.trustedProxies,
        openSession: (account) => accounts.openSession(account, config.authAdmins),
        audit: context.audit,
      })
      serviceRoutes(app, shared, {
        prefix,
        metrics: config.metricsAddress === undefined ? metrics : undefined,
        checks: [
          () => database.ping(),
          () => images.store.ping(),
          () => context.health.check(),
          () => nameIndex.assertReady(),
        ],
        baseUrl,
      })
      domainwatchRoutes(app, shared, {
        database,
        tasks,
        clock,
        timeZone: config.timeZone,
        baseUrl,
        dns,
        following,
        ...work,
        searches: context.searches,
        observations,
        dictionary,
        rules: context.rules,
        interest: context.interest,
        dnsInFlight: perProcessShare(Math.ceil(limits.dnsInFlight / 2), config.workers),
        nameIndex,
      })
      imagestoreRoutes(app, shared, images, context, baseUrl)
      adminRoutes(app, shared, {
        database,
        clock,
        version: VERSION,
        timeZone: config.timeZone,
        settings: config.shown,
        engine: config.databaseUrl === '' ? 'sqlite' : 'postgres',
        blobs: { kind: config.blobsUrl === undefined ? 'files' : 's3', ping: () => images.store.ping() },
        figures: context.figures,
        diagnose: () => diagnose({ ...config, port: findPort(server) ?? config.port }, database, clock),
        keys: accounts,
        policies: createAccountPolicies(database),
        releaseClaims: (account) => releaseClaims(database, clock, account),
        baseUrl,
      })
    },
    { prefix },
  )
  return server
}

/** The addresses that a server listens on. */
export const boundTo = (server: FastifyInstance) =>
  server.addresses().filter((one) => typeof one !== 'string')

/** Returns the port that a server listens on, which the settings may leave to the system. */
export const findPort = (server: FastifyInstance): number | undefined => boundTo(server)[0]?.port
