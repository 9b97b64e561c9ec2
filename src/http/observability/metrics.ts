import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { RequestSeconds } from './request-histogram.ts'

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Gauges of prom-client that are named as counters, which `promtool check metrics` refuses. Others hold the same by kind. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** What one process has measured, fit to be sent to another. */
export type Measurements = readonly object[]

/** The service's measurements, in Prometheus' form. */
export class Metrics {
  readonly registry = new Registry()
  #gather: (() => Promise<readonly Measurements[]>) | undefined
  readonly #requests = new RequestSeconds(
    { name: 'catalejo_http_request_seconds', help: 'Time to answer a request', registers: [this.registry] },
    SECONDS,
  )

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

  /**
   * A gauge whose value is read when the metrics are asked for.
   * @param aggregator how those of several processes become one: `max` for what they share, and each of them counts
   */
  gauge(name: string, help: string, read: () => number, aggregator: 'sum' | 'max' = 'sum'): void {
    const registers = [this.registry]
    new Gauge({
      name,
      help,
      registers,
      aggregator,
      collect() {
        this.set(read())
      },
    })
  }

  /** A counter that somebody else keeps, read when the metrics are asked for. */
  total(name: string, help: string, read: () => number): void {
    const registers = [this.registry]
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }

  measurements(): Promise<Measurements> {
    return this.registry.getMetricsAsJSON()
  }

  /** @param gather finds the measurements of all processes that serve together, this one's included */
  gatherBy(gather: () => Promise<readonly Measurements[]>): void {
    this.#gather = gather
  }

  /** Of all processes that serve together: counters added up, gauges too unless they say otherwise. */
  async text(): Promise<string> {
    if (this.#gather === undefined) return this.registry.metrics()
    return AggregatorRegistry.aggregate([...(await this.#gather())]).metrics()
  }

  /** The same as objects. */
  async gathered(): Promise<Measurements> {
    if (this.#gather === undefined) return this.measurements()
    return AggregatorRegistry.aggregate([...(await this.#gather())]).getMetricsAsJSON()
  }

  observeRequest(method: string, route: string, status: number, seconds: number): void {
    this.#requests.count(method, route, status, seconds)
  }
}
