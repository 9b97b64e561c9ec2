import type { FastifyInstance } from 'fastify'
import type { Config } from './config/config.ts'
import { createContext, type Context, type Overrides } from './context.ts'
import { startChores, type Chore } from './core/chores.ts'
import { copyState, setCopyState } from './database/moves.ts'
import { sweepChanges } from './database/changes/sweep.ts'
import { domainwatchRoutes, purgeExpired } from './domainwatch/index.ts'
import { Authenticator } from './http/authentication.ts'
import { BodyBudget } from './http/request-body.ts'
import { createServer } from './http/server.ts'
import { serviceRoutes } from './http/service-routes.ts'
import { imagestoreRoutes, openImagestore, type Imagestore } from './imagestore/index.ts'
import { FOREIGN_STORE, STRANGE_STORE } from './imagestore/ownership.ts'
import { VERSION } from './version.ts'

/** Memory for bodies that are being received or worked on. */
const BODY_MEMORY = 256 * 1024 * 1024
/** From the order to stop until connections with an unfinished request are cut. */
const STOP_GRACE_MS = 7_000
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
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
  await takeOver(context)
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
      await Promise.all([server.close(), stopChores()])
      clearTimeout(cut)
      await context.close()
    },
  }
}

/** Makes a copy an instance in its own right: from now on nothing may be copied over it. */
async function takeOver(context: Context): Promise<void> {
  const state = await copyState(context.database)
  if (state === 'finished') await setCopyState(context.database, undefined)
  if (state !== 'unfinished') return
  await context.close()
  throw new Error('its data is a copy that is not finished: run catalejo migrate, or restore, again')
}

/** The server with every route, listening on nothing: also what `openapi.json` is generated from. */
export async function createRoutes(
  context: Context,
  images: Imagestore,
  baseUrl: () => string,
): Promise<FastifyInstance> {
  const { accounts, clock, config, database, log, metrics, resolver, tasks } = context
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
      serviceRoutes(app, metrics, [() => database.ping(), () => images.store.ping()])
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

function chores({ clock, config, database, log, staging }: Context, images: Imagestore): Chore[] {
  return [
    { name: 'purge of discarded domains', everyMs: 10_000, run: () => purgeExpired(database, clock) },
    {
      name: 'sweep of old changes',
      everyMs: 10 * MINUTE,
      run: () =>
        sweepChanges(database, clock, { maxAgeMs: config.changesDays * DAY, maxCount: config.changesMax }),
    },
    { name: 'sweep of removed images', everyMs: MINUTE, run: () => images.store.sweepTrash() },
    {
      name: 'sweep of leftovers',
      everyMs: 60 * MINUTE,
      run: async () => {
        const staged = await staging.sweep(clock.now(), LEFTOVER_AGE_MS)
        const sweep = await images.store.sweepOrphans(LEFTOVER_AGE_MS)
        const orphans = sweep.kind === 'swept' ? sweep.removed : 0
        if (staged + orphans > 0) log.info({ staged, orphans }, 'leftovers of interrupted uploads removed')
        if (sweep.kind === 'foreign') log.error({ owner: sweep.owner }, FOREIGN_STORE)
        if (sweep.kind === 'strange') log.error({}, STRANGE_STORE)
      },
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
