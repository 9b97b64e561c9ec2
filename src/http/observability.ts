import { once } from 'node:events'
import { createServer } from 'node:http'
import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pino, type Logger } from 'pino'
import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { httpUrl } from '../lib/text.ts'
import { clientNetwork } from './client.ts'
import { toHttpError } from './errors.ts'
import type { GracefulShutdown } from './graceful-shutdown.ts'

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Gauges of prom-client with names of counters, which `promtool check metrics` rejects. Others report the same by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** A value, or values by label; none for now if it is undefined. */
type Reading = number | undefined | ReadonlyMap<string, number>

interface MeasureOptions {
  /** Whether each of several processes reports the same state. Else their values are summed. */
  readonly isShared?: boolean
  /** The label of the values in a map, which are shared. */
  readonly label?: string
}

/** The metrics of one process, in a form that can be sent to another. */
export type Measurements = readonly object[]

/** The metrics of the service, for Prometheus. */
export class Metrics {
  readonly registry = new Registry()
  #text: Promise<string> | undefined
  #gather: (() => Promise<readonly Measurements[]>) | undefined
  readonly requests = this.histogram('catalejo_http_request_seconds', 'Duration of HTTP requests', [
    'method',
    'route',
    'status',
  ])

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    for (const name of MISNAMED) this.registry.removeSingleMetric(name)
  }

  histogram(name: string, help: string, labelNames: string[] = []): Histogram {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [this.registry] })
  }

  counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] })
  }

  /** Adds metrics that are read at each scrape: counters if their name ends in `_total`, and else gauges. None while reading fails. */
  measure(
    metrics: Readonly<Record<string, readonly [help: string, read: () => Reading | Promise<Reading>]>>,
    { label, isShared = label !== undefined }: MeasureOptions = {},
  ): void {
    const labelNames = label === undefined ? [] : [label]
    const aggregator = isShared ? 'max' : 'sum'
    for (const [name, [help, read]] of Object.entries(metrics)) {
      const collect = async () => {
        let reading: Reading
        try {
          reading = await read()
        } catch {
          // It is missing until it can be read again.
        }
        metric.reset()
        if (label === undefined) metric.remove()
        if (typeof reading === 'number') metric.inc(reading)
        else if (label !== undefined)
          for (const [of, value] of reading ?? []) metric.inc({ [label]: of }, value)
      }
      const Metric = name.endsWith('_total') ? Counter : Gauge
      const registers = [this.registry]
      const metric: Counter | Gauge = new Metric({ name, help, labelNames, aggregator, registers, collect })
    }
  }

  measurements(): Promise<Measurements> {
    return this.registry.getMetricsAsJSON()
  }

  /** @param gather returns the metrics of all processes of this service, including this one */
  gatherBy(gather: () => Promise<readonly Measurements[]>): void {
    this.#gather = gather
  }

  /**
   * Returns the metrics of all processes as text: sums, unless a gauge has another aggregator. Concurrent calls share one result,
   * because anybody may ask. Reading takes milliseconds, often without any wait, so it starts after the requests that arrived
   * together were read: each connection would get its own text otherwise.
   */
  text(): Promise<string> {
    return (this.#text ??= this.#readText().finally(() => (this.#text = undefined)))
  }

  async #readText(): Promise<string> {
    await nextTurn()
    if (this.#gather === undefined) return this.registry.metrics()
    return AggregatorRegistry.aggregate([...(await this.#gather())]).metrics()
  }

  /** Returns the metrics of all processes as objects. */
  async gathered(): Promise<Measurements> {
    if (this.#gather === undefined) return this.measurements()
    return AggregatorRegistry.aggregate([...(await this.#gather())]).getMetricsAsJSON()
  }
}

const MAX_CONNECTIONS = 100
const TIMEOUT_MS = 10_000

export interface MetricsServer {
  readonly url: string
  close(): Promise<void>
}

/** Serves only `/metrics`, on a separate address. */
export async function serveMetrics(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const options = { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, keepAliveTimeout: TIMEOUT_MS }
  const server = createServer(options, (request, response) => {
    const path = request.url?.split('?', 1)[0]
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const fail = (status: number) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify(toHttpError(status).body()))
    }
    if (path !== '/metrics' || !isRead) return fail(404)
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => fail(503),
    )
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  const ownPort = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `${httpUrl(host, ownPort)}/metrics`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const WINDOW_MS = 60_000
/** Clients counted separately; further ones are counted as one. */
const MAX_CLIENTS = 10_000
const OTHERS = 'others'

/** Logged in place of a status when the client closed the connection before the response was sent (nginx's convention). */
const CLIENT_CLOSED_REQUEST = 499

export type ObserveRequest = (request: FastifyRequest, reply: FastifyReply, route: string | undefined) => void

/**
 * Measures and logs each request once, when its response was sent or its client disconnected: Fastify's `onResponse` hook is not
 * called in the second case. The log line names the route's pattern, never the URL, which carries the API key.
 */
export function requestObserver(
  log: Logger,
  measure: (labels: { method: string; route: string; status: number }, seconds: number) => void,
  quota: LogQuota,
  shutdown: GracefulShutdown,
): ObserveRequest {
  return ({ id: reqId, ip, method, socket }, { raw: response }, route = 'unknown') => {
    const start = performance.now()
    response.on('close', () => {
      shutdown.release(socket, response)
      const ms = performance.now() - start
      const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST
      measure({ method, route, status }, ms / 1_000)
      if (!quota.take(ip)) return
      const rounded = Math.round(ms * 1_000) / 1_000
      const level = status < 400 && isProbe(route) ? 'debug' : 'info'
      log[level]({ reqId, method, route, status, ms: rounded, ip: ip ?? null }, 'request completed')
    })
  }
}

/** Whether machines ask for it every few seconds. */
const isProbe = (route: string): boolean => /\/(healthz|readyz|metrics)$/.test(route)

const SILENT = pino({ enabled: false })

/**
 * A log for one line about a request, with its id. Counts towards the client's quota. Created for the few requests that need it,
 * not for every one.
 */
export function requestLog({ server, id, ip }: FastifyRequest): Pick<Logger, 'info' | 'error'> {
  return server.logQuota.take(ip) ? server.serviceLog.child({ reqId: id }) : SILENT
}

/** Limits the log lines about requests per client, so that no client can fill the disk. */
export class LogQuota {
  readonly #log: Logger
  readonly #maxLines: number
  readonly #lines = new Map<string, number>()

  /** @param maxLines per client and minute; 0 for no limit */
  constructor(log: Logger, maxLines: number) {
    this.#log = log
    this.#maxLines = maxLines
  }

  /** Counts a line; false if it must not be logged. The number of omitted lines is logged at the end of the minute. */
  take(ip: string | undefined): boolean {
    if (this.#maxLines === 0) return true
    if (this.#lines.size === 0) setTimeout(() => this.#report(), WINDOW_MS).unref()
    const group = clientNetwork(ip ?? '')
    const client = this.#lines.size < MAX_CLIENTS || this.#lines.has(group) ? group : OTHERS
    const lines = (this.#lines.get(client) ?? 0) + 1
    this.#lines.set(client, lines)
    return lines <= this.#maxLines
  }

  #report(): void {
    for (const [client, lines] of this.#lines) {
      const unlogged = lines - this.#maxLines
      if (unlogged > 0) this.#log.warn({ ip: client, lines: unlogged }, 'log lines about a client omitted')
    }
    this.#lines.clear()
  }
}
