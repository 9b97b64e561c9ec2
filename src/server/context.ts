import { Interest, NameIndex, readDictionary, Rules } from '../domainwatch/index.ts'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { DeliveryGates } from '../deliveries/delivery-attempt.ts'
import { FigureHistory } from '../admin/index.ts'
import { createAccounts } from '../accounts/index.ts'
import { openAudit } from '../http/auth/audit.ts'
import { observed, openBlobs, reasonOf } from '../storage/blobs/open.ts'
import type { ObserveAttempts, ObserveFaults } from '../storage/blobs/s3/requests.ts'
import { Staging } from '../storage/blobs/staging.ts'
import type { Config } from './config/config.ts'
import { systemClock, type Clock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import { isOpenToOthers, makeFolder } from '../lib/private-files.ts'
import { perProcessShare } from '../lib/concurrency.ts'
import { Gate } from '../lib/gate.ts'
import { POOLS, LIMITS, type Limits } from '../lib/limits.ts'
import { createTasks, type Tasks } from '../lib/tasks.ts'
import type { Database } from '../storage/database/database.ts'
import {
  createResolver,
  systemServers,
  type CachedAnswer,
  type Resolver,
  type ResolverStats,
} from '../lib/dns/index.ts'
import { lruCacheOfBytes } from '../lib/lru-cache.ts'
import { keepBeforeUpgrade } from './before-upgrade.ts'
import { createHealth, type Health } from './health.ts'
import { openDatabase } from '../storage/database/open.ts'
import { Metrics } from '../http/observability.ts'

/** The resources that the service uses, created once. */
export type Context = Awaited<ReturnType<typeof createContext>>

/** Replacements for tests. */
export interface Overrides {
  readonly clock?: Clock
  readonly log?: Logger
  readonly limits?: Partial<Limits>
}

const TAKE_RIGHTS = 'remove their permissions with chmod -R go='
/** The zone that contains all names. */
const ZONE = 'cl'
/** DNS answers in memory. */
const DNS_CACHE_BYTES = 32 * 1024 * 1024
const TASK_THREADS = Math.min(4, Math.max(2, availableParallelism()))

/** @param existing only opens an existing database of this version */
export async function createContext(config: Config, overrides: Overrides = {}, { existing = false } = {}) {
  const { clock = systemClock, log = createLog(config.logLevel) } = overrides
  const limits: Limits = { ...LIMITS, ...overrides.limits }
  const metrics = new Metrics()
  const data = resolve(config.data)
  if (!existing) await makeFolder(data)
  // Created by an earlier version or manually: warn, but keep the permissions.
  if (existsSync(data) && isOpenToOthers(data))
    log.warn({ folder: data }, `other users can read the data folder: ${TAKE_RIGHTS}`)
  const health = createHealth(clock, log)
  const seconds = metrics.histogram('catalejo_database_seconds', 'Duration of database operations', [
    'operation',
  ])
  // Threads of a context that could not be opened would keep the process alive.
  await using opening = new AsyncDisposableStack()
  const database = opening.use(
    await openDatabase(config, {
      observe: (operation, duration) => seconds.observe({ operation }, duration),
      report: (fault) => log.warn({ err: fault }, 'database error'),
      existing,
      reserve: !existing,
      onFault: (fault) => health.databaseFailed(fault),
      beforeMigration: keepBeforeUpgrade(config, log),
      onMigrated: (from, to) => log.info({ from, to }, 'database migrated'),
    }),
  )
  const tasks = createTasks(TASK_THREADS, (error) => log.error({ err: error }, 'worker thread failed'))
  opening.defer(() => tasks.close())
  const resolverLimits = {
    maxInFlight: perProcessShare(limits.dnsInFlight, config.workers),
    cache: lruCacheOfBytes<CachedAnswer>(DNS_CACHE_BYTES, ({ bytes }) => bytes),
  }
  const { dnsServers = systemServers(), dnsParent } = config
  const recordResolver = createResolver({ ...resolverLimits, servers: dnsServers })
  // The servers of cl only know delegations.
  const resolver =
    dnsParent === undefined
      ? recordResolver
      : createResolver({
          ...resolverLimits,
          role: 'parent',
          servers: dnsParent === 'auto' ? { zone: ZONE, through: recordResolver } : dnsParent,
        })
  const resolvers = [...new Set([resolver, recordResolver])]
  opening.defer(() => resolvers.forEach((one) => one.close()))
  const staging = await Staging.open(join(data, 'staging'), {
    flush: config.blobsUrl === undefined,
    onFault: (fault) => health.imagesFailed(fault),
  })
  const s3Observers = observeS3(metrics, log, health)
  const blobs = opening.use(await openBlobs(config.blobsUrl, join(data, 'blobs'), staging, ...s3Observers))
  // Files that jobs read, on every node.
  const jobLocation = config.blobsUrl && { ...config.blobsUrl, prefix: `${config.blobsUrl.prefix}jobs/` }
  const jobFiles = opening.use(await openBlobs(jobLocation, join(data, 'jobs'), staging, ...s3Observers))
  health.watch({ database, staging })
  opening.defer(() => health.close())
  const blobSeconds = metrics.histogram('catalejo_blobs_seconds', 'Duration of blob operations', [
    'operation',
  ])
  const accounts = createAccounts(database, clock)
  const dictionary = readDictionary(config.words)
  const rules = new Rules(database, dictionary.split)
  const nameIndex = new NameIndex({
    database,
    tasks,
    dictionary,
    timeZone: config.timeZone,
    rules,
    report: (message, detail) => log.warn(detail, message),
  })
  const interest = new Interest({ database, clock, tasks, nameIndex, dictionary })
  observe(metrics, database, tasks, resolvers, nameIndex)
  opening.defer(() => nameIndex.close())
  const dns: Pick<Resolver, 'nameServers' | 'records'> = {
    nameServers: (name) => resolver.nameServers(name),
    records: (name, type) => recordResolver.records(name, type),
  }
  const opened = opening.move()

  return {
    config,
    clock,
    limits,
    log,
    metrics,
    figures: new FigureHistory(() => metrics.gathered()),
    database,
    blobs: observed(
      blobs.store,
      (operation, seconds) => blobSeconds.observe({ operation }, seconds),
      (fault) => health.imagesFailed(fault),
    ),
    staging,
    jobFiles: jobFiles.store,
    /** Runs work in other threads: parsing large bodies, hashing. */
    tasks,
    /** In front of searches, which share the event loop. */
    searches: new Gate(POOLS.searches),
    /** In front of deliveries to receivers that accounts choose. */
    deliveries: new DeliveryGates(),
    accounts,
    audit: openAudit(database, clock),
    health,
    dns,
    /** The words that names are split into. */
    dictionary,
    /** The rules of the group. */
    rules,
    /** The taste of the group. */
    interest,
    /** All records of domains in memory. Loaded by who serves lists. */
    nameIndex,
    /** Registers something to close before what the context has already. */
    onClose: (close: () => Promise<void>): void => opened.defer(close),
    close: () => opened.disposeAsync(),
  }
}

/** Callbacks that log and count requests to an S3 store. */
function observeS3(metrics: Metrics, log: Logger, health: Health): [ObserveFaults, ObserveAttempts] {
  const labels = ['operation']
  const attempts = metrics.counter('catalejo_s3_attempts_total', 'Requests to the S3 store', labels)
  const retries = metrics.counter(
    'catalejo_s3_retries_total',
    'Requests to the S3 store that were retries',
    labels,
  )
  const faults = metrics.counter(
    'catalejo_s3_faults_total',
    'Operations of the S3 store that failed after all retries',
    labels,
  )
  return [
    (operation, error) => {
      faults.inc({ operation })
      if (operation === 'put') health.imagesFailed(error)
      log.warn({ operation, reason: reasonOf(error) }, 'image store failed')
    },
    (operation, count) => {
      attempts.inc({ operation }, count)
      if (count > 1) retries.inc({ operation }, count - 1)
    },
  ]
}

function observe(
  metrics: Metrics,
  database: Database,
  tasks: Tasks,
  resolvers: readonly Resolver[],
  nameIndex: NameIndex,
): void {
  const sum = (read: (stats: ResolverStats) => number) =>
    resolvers.reduce((total, resolver) => total + read(resolver.stats()), 0)
  metrics.measure({
    catalejo_search_names: ['Records in the list index', () => nameIndex.stats().names],
    catalejo_search_bytes: ['Memory of the list index', () => nameIndex.stats().bytes],
    catalejo_search_segments: ['Segments of the list index', () => nameIndex.stats().segments],
    catalejo_search_ready: ['Processes whose list index is loaded', () => nameIndex.stats().ready],
    catalejo_search_load_seconds: [
      'Duration of the last load of all records',
      () => nameIndex.stats().loadSeconds,
    ],
    catalejo_database_waiting_writes: ['Transactions waiting', () => database.stats().waitingWrites],
    catalejo_database_waiting_scans: ['Scans waiting', () => database.stats().waitingScans],
    catalejo_tasks_waiting: ['Tasks waiting for a thread', () => tasks.waiting],
    catalejo_dns_in_flight: ['DNS queries in flight', () => sum(({ inFlight }) => inFlight)],
    catalejo_dns_cache_hits_total: ['DNS answers from the cache', () => sum(({ hits }) => hits)],
    catalejo_dns_cache_misses_total: ['DNS answers not in the cache', () => sum(({ misses }) => misses)],
  })
}
