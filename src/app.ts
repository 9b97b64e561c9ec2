import type { FastifyInstance } from 'fastify'
import type { Config } from './config/config.ts'
import { createContext, type Context, type Overrides } from './context.ts'
import { startChores, type Chore } from './core/chores.ts'
import { domainwatchRoutes, purgeExpired } from './domainwatch/index.ts'
import { Authenticator } from './http/authentication.ts'
import { BodyBudget } from './http/request-body.ts'
import { createServer } from './http/server.ts'
import { serviceRoutes } from './http/service-routes.ts'
import { imagestoreRoutes, openImagestore, type Imagestore } from './imagestore/index.ts'
import { VERSION } from './version.ts'

/** Memory for bodies that are being received or worked on. */
const BODY_MEMORY = 256 * 1024 * 1024
/** From the order to stop until connections with an unfinished request are cut. */
const STOP_GRACE_MS = 7_000
const MINUTE = 60_000
/** Leftovers younger than this may belong to an upload that is under way. */
const LEFTOVER_AGE_MS = 60 * MINUTE

export interface App {
  readonly context: Context
  readonly server: FastifyInstance
  /** Where clients find the service, with the path it is served under. */
  readonly baseUrl: string
  /** No new connections; requests in flight finish, or are cut after a while. */
  close(): Promise<void>
}

/** Settings to a running service: the only file that knows all parts. */
export async function startApp(config: Config, overrides: Overrides = {}): Promise<App> {
  const context = await createContext(config, overrides)
  const images = openImagestore(context)
  let baseUrl = config.baseUrl
  const server = await createRoutes(context, images, () => baseUrl)
  await server.listen({ host: config.host, port: config.port })
  baseUrl ||= defaultBaseUrl(config.host, server)
  const stopChores = startChores(chores(context, images), (name, error) =>
    context.log.error({ err: error, chore: name }, 'a chore failed'),
  )

  return {
    context,
    server,
    baseUrl,
    async close() {
      const cut = setTimeout(() => server.server.closeAllConnections(), STOP_GRACE_MS)
      images.derivatives.stopSweeps()
      await Promise.all([server.close(), stopChores()])
      clearTimeout(cut)
      await context.close()
    },
  }
}

/** The server with every route, listening on nothing: also what `openapi.json` is generated from. */
export async function createRoutes(
  context: Context,
  images: Imagestore,
  baseUrl: () => string,
): Promise<FastifyInstance> {
  const { accounts, blobs, clock, config, database, log, metrics, resolver, tasks } = context
  const server = await createServer({
    log,
    metrics,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    version: VERSION,
  })
  const shared = {
    authenticator: new Authenticator(accounts.identify, clock, config.failedKeys),
    bodies: new BodyBudget(BODY_MEMORY),
  }
  await server.register(
    async (app) => {
      serviceRoutes(app, metrics, [() => database.ping(), () => blobs.ping()])
      domainwatchRoutes(app, shared, {
        database,
        tasks,
        clock,
        timeZone: config.timeZone,
        baseUrl,
        nameServers: (name) => resolver.nameServers(name),
      })
      imagestoreRoutes(app, shared, images, { database, tasks, baseUrl, maxBytes: config.maxImageBytes })
    },
    { prefix: config.baseUrl === '' ? '' : new URL(config.baseUrl).pathname.replace(/\/$/, '') },
  )
  return server
}

function chores({ clock, database, log, staging }: Context, images: Imagestore): Chore[] {
  return [
    { name: 'purge of discarded domains', everyMs: 10_000, run: () => purgeExpired(database, clock) },
    { name: 'sweep of removed images', everyMs: MINUTE, run: () => images.store.sweepTrash() },
    {
      name: 'sweep of leftovers',
      everyMs: 60 * MINUTE,
      run: async () => {
        const staged = await staging.sweep(clock.now(), LEFTOVER_AGE_MS)
        const orphans = await images.store.sweepOrphans(LEFTOVER_AGE_MS)
        if (staged + orphans > 0) log.info({ staged, orphans }, 'leftovers of interrupted uploads removed')
      },
    },
    // On every machine: each has a folder of its own.
    { name: 'sweep of derivatives', everyMs: 60 * MINUTE, run: () => images.derivatives.sweepFolder() },
    {
      name: 'sweep of shared derivatives',
      everyMs: 60 * MINUTE,
      run: () => images.derivatives.sweepShared(clock.now()),
    },
  ]
}

function defaultBaseUrl(host: string, server: FastifyInstance): string {
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  // What listens everywhere has no address of its own to show.
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
