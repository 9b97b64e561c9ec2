import type { EndpointShared } from '../http/endpoint.ts'
import type { EagerDerivatives } from './eager.ts'
import type { ResolveLink } from './links/resolve-link.ts'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { S3Location } from '../storage/blobs/s3/location.ts'
import type { Staging } from '../storage/blobs/staging.ts'
import type { Database } from '../storage/database/database.ts'
import type { Metrics } from '../http/observability.ts'
import { allowAddresses } from '../deliveries/http-client.ts'
import type { DeliveryGates } from '../deliveries/delivery-attempt.ts'
import { webhookTransport } from '../deliveries/webhook.ts'
import type { Clock } from '../lib/clock.ts'
import { perProcessShare } from '../lib/concurrency.ts'
import type { Tasks } from '../lib/tasks.ts'
import { VERSION } from '../lib/version.ts'
import { Delivery } from './delivery.ts'
import { DerivativeCache } from './derivatives.ts'
import { DerivativeFolder } from './derivative-folder.ts'
import { Gate } from '../lib/gate.ts'
import { POOLS } from '../lib/limits.ts'
import { ImageEngine } from './decoder/index.ts'
import { type ImageSettings, ImageDefinitions } from './definitions.ts'
import { Hooks } from './hooks.ts'
import { heldKeys } from './queries.ts'
import { SimilarImages } from './similar-images.ts'
import { OriginalChecks } from './blobs.ts'
import { ImageStore } from './store.ts'
import { Tickets, TicketUploads } from './tickets.ts'

/** What the endpoints of image hosting share. */
export interface ImageRoutes
  extends EndpointShared, Imagestore, Pick<ImagestoreContext, 'config' | 'database' | 'clock' | 'tasks'> {
  readonly eager: EagerDerivatives
  readonly resolve: ResolveLink
  readonly baseUrl: () => string
}

export interface Imagestore {
  readonly store: ImageStore
  readonly delivery: Delivery
  readonly derivatives: DerivativeCache
  readonly similar: SimilarImages
  readonly originals: OriginalChecks
  readonly tickets: Tickets
  readonly ticketUploads: TicketUploads
  readonly definitions: ImageDefinitions
  readonly hooks: Hooks
}

/** What image hosting is built on: the part of the service's context that it uses. */
export interface ImagestoreContext {
  readonly searches: Gate
  readonly deliveries: DeliveryGates
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly metrics: Metrics
  readonly config: {
    readonly data: string
    /** 0 disables the folder. */
    readonly derivativeCacheBytes: number
    readonly maxImageBytes: number
    readonly maxImagePixels: number
    readonly imageSettings: ImageSettings
    readonly webhookNetworks: readonly string[]
    /** 1 if images are stored without their metadata. */
    readonly strip: number
    readonly imageWorkers: number
    readonly workers: number
    readonly imageMemoryBytes: number
    readonly memoryCacheBytes: number
    readonly imageWaitMs: number
    readonly blobsUrl: Pick<S3Location, 'redirectBytes'> | undefined
  }
  readonly limits: {
    readonly imageTimeoutMs: number
    readonly imageQueue: number
    readonly similarBytes: number
  }
  readonly clock: Clock
  readonly database: Database
  readonly blobs: BlobStore
  readonly staging: Staging
  /** Files of work that has not ended, which every node can read. */
  readonly jobFiles: BlobStore
  readonly tasks: Tasks
  readonly onClose: (close: () => Promise<void>) => void
}

export function openImagestore(context: ImagestoreContext): Imagestore {
  const { blobs, clock, config, database, limits, metrics, staging } = context
  const perProcess = (total: number) => perProcessShare(total, config.workers)
  const workers = perProcess(config.imageWorkers === 0 ? availableParallelism() : config.imageWorkers)
  const waitMs = config.imageWaitMs
  const engine = new ImageEngine({
    workers,
    maxPixels: config.maxImagePixels,
    timeoutMs: limits.imageTimeoutMs,
    memory: perProcess(config.imageMemoryBytes),
    // Whether an image is accepted must not depend on the number of processes.
    largestJob: config.imageMemoryBytes,
    queue: perProcess(limits.imageQueue),
    waitMs,
  })
  context.onClose(() => engine.close())
  // More than the decoders run: with a remote store they would wait for the files of the next images.
  const links = new Gate({ ...POOLS.links, running: 4 * workers, perClient: 2 * workers, waitMs })
  const derivatives = openDerivatives(context, links)
  const delivery = new Delivery({
    database,
    blobs,
    engine,
    derivatives,
    cacheBytes: Math.floor(config.memoryCacheBytes / config.workers),
    redirectBytes: config.blobsUrl?.redirectBytes ?? Infinity,
    clock,
  })
  const forget = (key: string) => derivatives.forget(key)
  const store = new ImageStore({ database, blobs, staging, engine, clock, forget })
  const similar = new SimilarImages(database, clock, perProcess(limits.similarBytes), context.searches)
  context.onClose(async () => similar.close())
  const originals = new OriginalChecks(context)
  metrics.measure({
    catalejo_images_decoding: ['Images being decoded', () => engine.stats().running],
    catalejo_images_waiting: ['Images waiting to be decoded', () => engine.stats().waiting + links.waiting],
    catalejo_images_cache_hits_total: ['Images served from memory', () => delivery.hits],
    catalejo_images_cache_misses_total: ['Images read or rendered', () => delivery.misses],
    catalejo_images_restarts_total: ['Decoder processes that were replaced', () => engine.stats().restarts],
    catalejo_images_cached_bytes: ['Images cached in memory', () => delivery.cachedBytes],
    catalejo_images_similar_bytes: ['Memory of hashes of similar images', () => similar.bytes],
    catalejo_originals_checked_total: ['Originals compared with their hashes', () => originals.checked],
    catalejo_originals_damaged_total: ['Originals found damaged and marked as lost', () => originals.damaged],
  })
  metrics.measure(
    {
      catalejo_images_waiting_removals: [
        'Deleted images whose bytes are still to be removed',
        () => store.waitingRemovals(),
      ],
    },
    { isShared: true },
  )
  const hooks = new Hooks({
    database,
    clock,
    gates: context.deliveries,
    webhooks: webhookTransport({
      clock,
      isAllowedAddress: allowAddresses(config.webhookNetworks),
      userAgent: `Catalejo/${VERSION}`,
    }),
    failed: (error) => context.log.warn({ err: error }, 'notifications of a hook failed'),
  })
  context.onClose(async () => hooks.close())
  return {
    store,
    delivery,
    derivatives,
    similar,
    originals,
    tickets: new Tickets(context),
    ticketUploads: new TicketUploads({ database, clock, files: context.jobFiles, staging }),
    definitions: new ImageDefinitions(database, config.imageSettings),
    hooks,
  }
}

/** Faults of a disk are frequent when they occur: at most one log line in this time. */
const LOG_INTERVAL_MS = 10_000

function openDerivatives(
  { config, database, log, metrics, onClose }: ImagestoreContext,
  gate: Gate,
): DerivativeCache {
  const cap = config.derivativeCacheBytes
  let faults = 0
  let nextLogAt = -Infinity
  const onFault = (operation: string, error: unknown) => {
    faults++
    if (performance.now() < nextLogAt) return
    nextLogAt = performance.now() + LOG_INTERVAL_MS
    log.warn({ operation, reason: String(error) }, 'derivative cache failed')
  }
  const folder =
    cap === 0 ? undefined : new DerivativeFolder(join(resolve(config.data), 'derivatives'), cap, onFault)
  const findExisting = async (keys: readonly string[]) =>
    new Set((await database.all(heldKeys(keys))).map(({ key }) => key))
  const cache = new DerivativeCache(folder, gate, findExisting)
  onClose(() => cache.close())
  metrics.measure({
    catalejo_derivatives_made_total: ['Derivatives computed', () => cache.rendered],
    catalejo_derivatives_disk_hits_total: ['Derivatives read from disk', () => cache.diskHits],
    catalejo_derivatives_faults_total: ['Faults of the derivative cache', () => faults],
    catalejo_derivatives_evicted_total: ['Derivatives evicted from disk', () => folder?.evicted ?? 0],
  })
  metrics.measure(
    { catalejo_derivatives_disk_bytes: ['Disk usage of derivatives', () => cache.bytes] },
    { isShared: true },
  )
  return cache
}
