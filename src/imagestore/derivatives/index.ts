import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { DerivativeStore } from '../../storage/blobs/blob-store.ts'
import { reasonOf } from '../../storage/blobs/open.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Metrics } from '../../http/metrics.ts'
import { heldKeys } from '../queries.ts'
import { DerivativeCache } from './cache.ts'
import { DerivativeFolder } from './folder.ts'
import { SharedDerivatives, type FindHeld } from './shared.ts'

const MIB = 1024 * 1024
/** What one client may fill of the cache before its further derivatives have to be asked for twice. */
const CLIENT_SHARE = 1 / 8
/** The same where only the shared store keeps them, which has no cap. */
const UNCAPPED_CLIENT_BYTES = 128 * MIB
/** The work of another process is waited for this long: it may still be in the queue of a client that has many jobs. */
const MAX_CLAIM_WAIT_MS = 3_000
/** Faults of a disk or a store come in swarms: one line in so long tells of them. */
const REPORT_MS = 10_000

/** The part of the service's context that the cache of derivatives uses. */
export interface DerivativesContext {
  readonly config: {
    readonly data: string
    /** MiB; 0 keeps none. */
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
  let faults = 0
  let reportAt = -Infinity
  const failed = (place: string, error: unknown) => {
    faults++
    if (performance.now() < reportAt) return
    reportAt = performance.now() + REPORT_MS
    const reason = error instanceof Error ? reasonOf(error) : String(error)
    log.warn({ place, reason }, 'the cache of derivatives failed')
  }
  const findHeld: FindHeld = async (keys) => {
    if (keys.length === 0) return new Set()
    return new Set((await database.all(heldKeys(keys))).map(({ key }) => key))
  }
  const folder =
    config.derivativeCache === 0
      ? undefined
      : new DerivativeFolder(join(resolve(config.data), 'derivatives'), {
          cap: config.derivativeCache * MIB,
          waitMs: Math.min(MAX_CLAIM_WAIT_MS, config.imageTimeout * 1_000),
          onFault: (operation, error) => failed(`disk: ${operation}`, error),
        })
  const shared =
    derivativeStore && new SharedDerivatives(derivativeStore, (error) => failed('shared store', error))
  const clientBytes =
    config.derivativeCache === 0 ? UNCAPPED_CLIENT_BYTES : config.derivativeCache * MIB * CLIENT_SHARE
  const cache = new DerivativeCache(folder, shared, findHeld, clientBytes)
  context.onClose(() => cache.close())

  metrics.total('catalejo_derivatives_made_total', 'Derivatives computed', () => cache.made)
  metrics.total('catalejo_derivatives_disk_hits_total', 'Derivatives read from disk', () => cache.diskHits)
  metrics.total(
    'catalejo_derivatives_shared_hits_total',
    'Derivatives read from the shared store',
    () => cache.sharedHits,
  )
  metrics.total('catalejo_derivatives_faults_total', 'Faults of the derivative cache', () => faults)
  metrics.total(
    'catalejo_derivatives_evicted_total',
    'Derivatives removed from disk for want of room',
    () => folder?.evicted ?? 0,
  )
  metrics.gauge(
    'catalejo_derivatives_disk_bytes',
    'Disk taken by derivatives, as of the last sweep',
    () => folder?.bytes ?? 0,
    'max',
  )
  return cache
}
