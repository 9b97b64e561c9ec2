import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Metrics } from '../../http/observability/metrics.ts'
import type { Gate } from '../../lib/gate.ts'
import type { Database } from '../../storage/database/database.ts'
import { heldKeys } from '../queries.ts'
import { DerivativeCache } from './cache.ts'
import { DerivativeFolder } from './folder.ts'

/** Faults of a disk are frequent when they occur: at most one log line in this time. */
const LOG_INTERVAL_MS = 10_000

/** The part of the service's context that the cache uses. */
export interface DerivativesContext {
  readonly config: {
    readonly data: string
    /** 0 disables the folder. */
    readonly derivativeCacheBytes: number
  }
  readonly log: Pick<Logger, 'warn'>
  readonly metrics: Metrics
  readonly database: Database
  onClose(close: () => Promise<void>): void
}

/** @param gate in front of rendering */
export function openDerivatives(context: DerivativesContext, gate: Gate): DerivativeCache {
  const { config, database, log, metrics } = context
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
  context.onClose(() => cache.close())

  metrics.total('catalejo_derivatives_made_total', 'Derivatives computed', () => cache.rendered)
  metrics.total('catalejo_derivatives_disk_hits_total', 'Derivatives read from disk', () => cache.diskHits)
  metrics.total('catalejo_derivatives_faults_total', 'Faults of the derivative cache', () => faults)
  metrics.total(
    'catalejo_derivatives_evicted_total',
    'Derivatives evicted from disk',
    () => folder?.evicted ?? 0,
  )
  metrics.gauge(
    'catalejo_derivatives_disk_bytes',
    'Disk usage of derivatives',
    () => folder?.bytes ?? 0,
    'max',
  )
  return cache
}
