import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Metrics } from '../../http/observability/metrics.ts'
import type { DerivativeStore } from '../../storage/blobs/blob-store.ts'
import { reasonOf } from '../../storage/blobs/open.ts'
import type { Database } from '../../storage/database/database.ts'
import { heldKeys } from '../queries.ts'
import { DerivativeCache } from './cache.ts'
import { DerivativeFolder } from './folder.ts'
import { SharedDerivatives, type FindExisting } from './shared-derivatives.ts'

const MIB = 1024 * 1024
/** Share of the cache that one client may fill; see `cacheAdmission`. */
const CLIENT_SHARE = 1 / 8
/** The same if only the shared store, which has no size limit, keeps derivatives. */
const UNLIMITED_CLIENT_BYTES = 128 * MIB
/** Longest wait for another process, whose job may be in the queue of a client with many jobs. */
const MAX_CLAIM_WAIT_MS = 3_000
/** Faults of a disk or a store are frequent when they occur: at most one log line in this time. */
const LOG_INTERVAL_MS = 10_000

/** The part of the service's context that the cache uses. */
export interface DerivativesContext {
  readonly config: {
    readonly data: string
    /** MiB; 0 disables the folder. */
    readonly derivativeCache: number
    /** Seconds. */
    readonly imageTimeout: number
  }
  readonly log: Pick<Logger, 'warn'>
  readonly metrics: Metrics
  readonly database: Database
  readonly derivativeStore: DerivativeStore | undefined
  onClose(close: () => Promise<void>): void
}

export function openDerivatives(context: DerivativesContext): DerivativeCache {
  const { config, database, derivativeStore, log, metrics } = context
  const cap = config.derivativeCache * MIB
  let faults = 0
  let nextLogAt = -Infinity
  const onFault = (place: string, error: unknown) => {
    faults++
    if (performance.now() < nextLogAt) return
    nextLogAt = performance.now() + LOG_INTERVAL_MS
    const reason = error instanceof Error ? reasonOf(error) : String(error)
    log.warn({ place, reason }, 'derivative cache failed')
  }
  const findExisting: FindExisting = async (keys) =>
    new Set((await database.all(heldKeys(keys))).map(({ key }) => key))
  const folder =
    cap === 0
      ? undefined
      : new DerivativeFolder(join(resolve(config.data), 'derivatives'), {
          cap,
          waitMs: Math.min(MAX_CLAIM_WAIT_MS, config.imageTimeout * 1_000),
          onFault: (operation, error) => onFault(`disk: ${operation}`, error),
        })
  const shared =
    derivativeStore && new SharedDerivatives(derivativeStore, (error) => onFault('shared store', error))
  const clientBytes = cap === 0 ? UNLIMITED_CLIENT_BYTES : cap * CLIENT_SHARE
  const cache = new DerivativeCache(folder, shared, findExisting, clientBytes)
  context.onClose(() => cache.close())

  metrics.total('catalejo_derivatives_made_total', 'Derivatives computed', () => cache.rendered)
  metrics.total('catalejo_derivatives_disk_hits_total', 'Derivatives read from disk', () => cache.diskHits)
  metrics.total(
    'catalejo_derivatives_shared_hits_total',
    'Derivatives read from the shared store',
    () => cache.sharedHits,
  )
  metrics.total('catalejo_derivatives_faults_total', 'Faults of the derivative cache', () => faults)
  metrics.total(
    'catalejo_derivatives_evicted_total',
    'Derivatives evicted from disk',
    () => folder?.evicted ?? 0,
  )
  metrics.gauge(
    'catalejo_derivatives_disk_bytes',
    'Disk usage of derivatives as of the last sweep',
    () => folder?.bytes ?? 0,
    'max',
  )
  return cache
}
