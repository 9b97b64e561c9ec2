import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { startBackgroundJobs } from './background-jobs.ts'
import type { Config } from './config/config.ts'
import { createContext, type Context, type Overrides } from './context.ts'
import { measureInstance } from './instance-metrics.ts'
import { perProcessShare } from '../lib/concurrency.ts'
import { renewLog } from '../storage/database/changes/change-log.ts'
import { copyState, setCopyState } from '../storage/database/transfer-marks.ts'
import {
  Feeds,
  Jobs,
  openSubscriptions,
  Rechecks,
  noteTimeZone,
  type FeedStatus,
  type Subscriptions,
} from '../domainwatch/index.ts'
import { allowAddresses } from '../deliveries/http-client.ts'
import { serveMetrics } from '../http/observability.ts'
import type { ShutdownOptions } from '../http/graceful-shutdown.ts'
import { openImagestore } from '../imagestore/index.ts'
import { CONNECTION_CUT_MS } from '../lib/limits.ts'
import { httpUrl } from '../lib/text.ts'
import { VERSION } from '../lib/version.ts'
import { boundTo, createRoutes, findPort } from './routes.ts'

const IMMEDIATE: ShutdownOptions = { drainDelayMs: 0, idleGraceMs: 0 }

export interface App {
  readonly context: Context
  readonly server: FastifyInstance
  /** The public URL, including the path prefix. */
  readonly baseUrl: string
  /** Resolves when lists are answered. */
  readonly loaded: Promise<void>
  /** Stops accepting connections, waits for requests in flight up to a limit, and closes the context. */
  close(options?: ShutdownOptions): Promise<void>
}

/** When a process begins to listen: immediately, or when it can answer lists, because others serve until then. */
export type Listening = 'immediately' | 'loaded'

/** Starts the service. The composition root, with `routes.ts`: the only files that know all parts. */
export async function startApp(
  config: Config,
  overrides: Overrides = {},
  listening: Listening = 'immediately',
): Promise<App> {
  const context = await createContext(config, overrides)
  try {
    return await startOn(context, listening)
  } catch (error) {
    // Threads that were started would keep the process alive.
    await context.close()
    throw error
  }
}

async function startOn(context: Context, listening: Listening): Promise<App> {
  const { config } = context
  await assertFinishedCopy(context)
  await noteTimeZone(context.database, config.timeZone)
  const images = openImagestore(context)
  let baseUrl = config.baseUrl
  const following = follow(context, () => baseUrl)
  const rechecks = createRechecks(context, following)
  const feeds = createFeeds(context)
  const jobs = createJobs(context)
  const server = await createRoutes(context, images, following, { feeds, jobs }, () => baseUrl)
  const loaded = context.nameIndex.load()
  if (listening === 'loaded') await loaded
  await server.listen({ host: config.host, port: config.port })
  for (const { address, port } of boundTo(server))
    context.log.info(`Server listening at ${httpUrl(address, port)}`)
  // A wildcard address cannot be used in a URL.
  const isWildcard = config.host === '0.0.0.0' || config.host === '::'
  baseUrl ||= httpUrl(isWildcard ? 'localhost' : config.host, findPort(server) ?? config.port)
  const metricsServer = config.metricsAddress && (await serveMetrics(context.metrics, config.metricsAddress))
  if (metricsServer !== undefined) context.log.info({ address: metricsServer.url }, 'metrics listening')
  measureInstance(context)
  const stopJobs = startBackgroundJobs(context, images, following, { rechecks, feeds, jobs })

  return {
    context,
    server,
    baseUrl,
    loaded,
    async close({ drainDelayMs, idleGraceMs } = IMMEDIATE) {
      server.shutdown.begin(idleGraceMs)
      await pause(drainDelayMs)
      // Accept pending connections: their clients believe that they are being served.
      await nextTurn()
      const timer = setTimeout(() => server.server.closeAllConnections(), CONNECTION_CUT_MS)
      await Promise.all([server.close(), metricsServer?.close(), stopJobs()])
      clearTimeout(timer)
      await context.close()
    },
  }
}

/** Turns a finished copy into an instance that later copies cannot overwrite. Throws if the copy is not finished. */
async function assertFinishedCopy(context: Context): Promise<void> {
  const state = await copyState(context.database)
  if (state === 'finished') {
    await renewLog(context.database)
    await setCopyState(context.database, undefined)
  }
  if (state === 'unfinished')
    throw new Error('its data is an incomplete copy: run catalejo migrate or restore again')
}

/** Opens everything that follows the changes of domains: events and watches. */
export function follow(context: Context, baseUrl: () => string): Subscriptions {
  const { accounts, clock, config, database, dictionary, limits, log, metrics } = context
  const following = openSubscriptions({
    database,
    clock,
    reading: {
      nameOf: accounts.nameOf,
      split: dictionary.split,
      contextAt: context.nameIndex.contextAt,
      rules: context.rules,
    },
    maxStreams: perProcessShare(limits.eventStreams, config.workers),
    searches: context.searches,
    gates: context.deliveries,
    webhookNetworks: config.webhookNetworks,
    phishingKeywords: config.phishingKeywords,
    channels: { telegram: config.telegram, ntfy: config.ntfy, email: config.smtpServer },
    timeZone: config.timeZone,
    baseUrl,
    userAgent: `Catalejo/${VERSION}`,
    failed: (what, error) => log.warn({ err: error }, what),
  })
  const { pages, streams } = following.events
  metrics.measure({ catalejo_event_streams: ['Open event streams', () => streams.running] })
  context.onClose(async () => {
    pages.close()
    for (const channel of following.channels.values()) channel.close?.()
  })
  return following
}

/** Returns undefined if rechecks are disabled. */
function createRechecks(context: Context, { vocabulary }: Subscriptions): Rechecks | undefined {
  const { clock, config, database, dns, limits, log, metrics, nameIndex } = context
  if (config.recheckEveryMs === 0) return undefined
  const rechecks = new Rechecks({
    database,
    clock,
    dns,
    nameIndex,
    vocabulary,
    intervalMs: config.recheckEveryMs,
    lookupsPerMinute: limits.rechecksPerMinute,
    tags: config.recheckTags,
    failed: (error) => log.warn({ err: error }, 'DNS rechecks failed'),
  })
  metrics.measure({
    catalejo_dns_rechecks_total: ['DNS rechecks of names', () => rechecks.stats.checked],
    catalejo_dns_rechecks_failed_total: ['DNS rechecks without an answer', () => rechecks.stats.failed],
    catalejo_dns_rechecks_overdue: ['Names whose DNS recheck is overdue', () => rechecks.stats.overdue],
  })
  return rechecks
}

/** Imports and bulk changes of members. */
export function createJobs(context: Context): Jobs {
  const { accounts, config, jobFiles, log } = context
  return new Jobs({
    ...context,
    timeZone: config.timeZone,
    nameOfAccount: accounts.nameOf,
    files: jobFiles,
    failed: (error, job) => log.warn({ err: error, job }, 'job failed and will be retried'),
  })
}

/** The lists that are fetched regularly, with their metrics. */
export function createFeeds(context: Context): Feeds {
  const { accounts, clock, config, database, dictionary, log, metrics, staging } = context
  const feeds = new Feeds({
    database,
    clock,
    timeZone: config.timeZone,
    feeds: config.feeds,
    accountNamed: async (name) =>
      (await accounts.ofService('domainwatch')).find((account) => account.name === name),
    dictionary,
    downloads: {
      staging,
      isAllowedAddress: allowAddresses(config.webhookNetworks),
      userAgent: `Catalejo/${VERSION}`,
    },
    failed: (error, feed) => log.warn({ err: error, feed }, 'feed could not be fetched or imported'),
    imported(feed, { format, list: { gap, incomplete } }) {
      if (gap !== undefined)
        log.warn(
          { feed, from: new Date(gap.from), to: new Date(gap.to) },
          'feed has a gap: its last complete list is older than its window',
        )
      if (incomplete !== undefined)
        log.warn(
          { feed, incomplete },
          'list of a feed is incomplete: names that it lacks are not taken as absent',
        )
      if (format === 'csv' || format === 'ndjson')
        log.warn({ feed }, 'feed is an export: only registrations and deletions are taken from it')
    },
  })
  if (feeds.isEmpty) return feeds
  const figures = {
    last_success_timestamp_seconds: [
      'Time of the last fetch of a feed',
      ({ state }) => state?.succeeded_at && Math.floor(state.succeeded_at / 1_000),
    ],
    failures: ['Failed attempts since a feed was last fetched', ({ state }) => state?.failures ?? 0],
    rows_read: ['Valid lines in the last list of a feed', ({ state }) => state?.records_read],
    rows_changed: [
      'Records that the last list of a feed added or changed',
      ({ state }) => state?.records_changed,
    ],
    rows_refused: ['Invalid lines in the last list of a feed', ({ state }) => state?.lines_refused],
    gaps_total: [
      'Times in which names may have come and gone between two complete lists of a feed',
      ({ source }) => source?.gaps ?? 0,
    ],
    stale: ['1 if a feed was not fetched for three intervals', ({ isStale }) => Number(isStale)],
  } satisfies Record<string, [help: string, read: (status: FeedStatus) => number | null | undefined]>
  for (const [name, [help, read]] of Object.entries(figures))
    metrics.measure(
      { [`catalejo_feed_${name}`]: [help, () => feeds.figures((status) => read(status) ?? undefined)] },
      { label: 'feed' },
    )
  return feeds
}
