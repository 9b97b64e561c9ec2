import type { HttpServer } from '../../http/server.ts'
import type { Clock } from '../../lib/clock.ts'
import { withTimeout } from '../../lib/concurrency.ts'
import type { Database } from '../../storage/database/database.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import type { Measurements } from '../../http/observability/metrics.ts'
import { countDomains, totalStorage } from '../queries.ts'
import { systemAnswer } from '../schemas.ts'

const PING_TIMEOUT_MS = 2_000
const PREFIX = 'catalejo_'

export interface SystemOptions {
  readonly database: Database
  readonly clock: Clock
  readonly version: string
  readonly timeZone: string
  readonly settings: readonly { readonly name: string; readonly value: string; readonly from: string }[]
  readonly engine: 'sqlite' | 'postgres'
  readonly blobs: { readonly kind: 'files' | 's3'; readonly ping: () => Promise<void> }
  /** Returns the measurements of all processes that serve together. */
  readonly measurements: () => Promise<Measurements>
}

export function systemRoute(app: HttpServer, shared: EndpointShared, options: SystemOptions): void {
  const { database, clock, version, timeZone, engine, blobs, measurements, settings } = options
  const started = Math.floor(clock.now() / 1_000)
  simpleEndpoint(app, shared, {
    service: 'admin',
    scopes: [],
    methods: ['GET'],
    path: '/api/v1/admin/system',
    parameters: {},
    document: {
      operation: 'getSystemState',
      summary: 'Get the state of the service: health, contents, queues and caches',
      answers: { 200: systemAnswer },
    },
    async handle({ identity, reply }) {
      const scanner = database.scannerOf(identity.accountId, clientAbort(reply.raw))
      const [domains, images, isDatabaseReady, areBlobsReady, measured] = await Promise.all([
        scanner.first(countDomains()),
        scanner.first(totalStorage()),
        isReady(database.ping()),
        isReady(blobs.ping()),
        measurements(),
      ])
      return {
        status: 200,
        version,
        started,
        time_zone: timeZone,
        database: engine,
        blobs: blobs.kind,
        ready: { database: isDatabaseReady, blobs: areBlobsReady },
        domains: Number(domains?.count ?? 0),
        images: Number(images?.images ?? 0),
        bytes: Number(images?.bytes ?? 0),
        settings,
        figures: toFigures(measured),
      }
    },
  })
}

/** Whether a ping succeeds in time. */
const isReady = (ping: Promise<void>): Promise<boolean> =>
  withTimeout(ping, PING_TIMEOUT_MS).catch(() => false)

/** Returns the service's own gauges and counters, each summed over its labels. */
function toFigures(measured: Measurements): Record<string, number> {
  const figures: Record<string, number> = {}
  for (const one of measured) {
    if (!('name' in one && 'type' in one && 'values' in one)) continue
    if (typeof one.name !== 'string' || !one.name.startsWith(PREFIX) || one.type === 'histogram') continue
    if (!Array.isArray(one.values)) continue
    figures[one.name] = one.values.reduce((sum: number, { value }: { value: number }) => sum + value, 0)
  }
  return figures
}
