import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Gauges of prom-client with names of counters, which `promtool check metrics` rejects. Others report the same by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The metrics of one process, in a form that can be sent to another. */
export type Measurements = readonly object[]

/** The metrics of the service, for Prometheus. */
export class Metrics {
  readonly registry = new Registry()
  #text: Promise<string> | undefined
  #gather: (() => Promise<readonly Measurements[]>) | undefined
  readonly #requests = new RequestHistogram(
    { name: 'catalejo_http_request_seconds', help: 'Duration of HTTP requests', registers: [this.registry] },
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
   * Adds a gauge whose value is read at each scrape.
   * @param aggregator how values of several processes are combined: `max` for shared state that each of them reports
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

  /**
   * Adds a gauge with a label, whose values by label are read at each scrape. All processes report the same values; none are
   * reported while reading fails.
   */
  labelledGauge(
    name: string,
    help: string,
    label: string,
    read: () => Promise<ReadonlyMap<string, number>>,
  ): void {
    const registers = [this.registry]
    new Gauge({
      name,
      help,
      registers,
      labelNames: [label],
      aggregator: 'max',
      async collect() {
        const values = await read().catch(() => new Map<string, number>())
        this.reset()
        for (const [of, value] of values) this.set({ [label]: of }, value)
      },
    })
  }

  /** Adds a counter whose value is read at each scrape. */
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

  /** @param gather returns the metrics of all processes of this service, including this one */
  gatherBy(gather: () => Promise<readonly Measurements[]>): void {
    this.#gather = gather
  }

  /**
   * Returns the metrics of all processes as text: sums, unless a gauge has another aggregator. Concurrent calls share one result,
   * because anybody may ask.
   */
  text(): Promise<string> {
    return (this.#text ??= this.#readText().finally(() => (this.#text = undefined)))
  }

  async #readText(): Promise<string> {
    if (this.#gather === undefined) return this.registry.metrics()
    return AggregatorRegistry.aggregate([...(await this.#gather())]).metrics()
  }

  /** Returns the metrics of all processes as objects. */
  async gathered(): Promise<Measurements> {
    if (this.#gather === undefined) return this.measurements()
    return AggregatorRegistry.aggregate([...(await this.#gather())]).getMetricsAsJSON()
  }

  observeRequest(method: string, route: string, status: number, seconds: number): void {
    this.#requests.count(method, route, status, seconds)
  }
}

type RequestLabel = 'method' | 'route' | 'status'

interface Series {
  readonly labels: Readonly<Record<RequestLabel, string | number>>
  /** Not cumulative; the last one counts what is above all bounds. */
  readonly counts: number[]
  sum: number
}

/**
 * A histogram of request durations. prom-client builds strings from the labels and the bucket at every observation, which took 5 %
 * of the time of a small request; this class builds them at each scrape.
 */
export class RequestHistogram extends Histogram<RequestLabel> {
  readonly #name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #series = new Map<string, Series>()
  #last: Series | undefined

  constructor(
    configuration: ConstructorParameters<typeof Histogram<RequestLabel>>[0],
    bounds: readonly number[],
  ) {
    super({ ...configuration, labelNames: ['method', 'route', 'status'], buckets: [...bounds] })
    this.#name = configuration.name
    this.#help = configuration.help
    this.#bounds = bounds
  }

  count(method: string, route: string, status: number, seconds: number): void {
    const series = this.#seriesOf(method, route, status)
    let bucket = 0
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] ?? 0)) bucket++
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sum += seconds
  }

  #seriesOf(method: string, route: string, status: number): Series {
    // Usually it is the same as the last time, and building the key is slower.
    const last = this.#last
    if (last?.labels.status === status && last.labels.route === route && last.labels.method === method)
      return last
    // There are few methods, routes and statuses, so the map is bounded.
    const key = `${method} ${status} ${route}`
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { labels: { method, route, status }, counts: this.#bounds.map(() => 0).concat(0), sum: 0 }
      this.#series.set(key, series)
    }
    return (this.#last = series)
  }

  /** Called by prom-client for every output format. */
  async getForPromString() {
    return {
      name: this.#name,
      help: this.#help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...this.#series.values()].flatMap((series) => this.#valuesOf(series)),
    }
  }

  #valuesOf({ labels, counts, sum }: Series) {
    let total = 0
    const buckets = counts.map((count, i) => {
      total += count
      const le = this.#bounds[i] ?? '+Inf'
      return { metricName: `${this.#name}_bucket`, labels: { le }, sharedLabels: labels, value: total }
    })
    return [
      ...buckets,
      { metricName: `${this.#name}_sum`, labels: {}, sharedLabels: labels, value: sum },
      { metricName: `${this.#name}_count`, labels: {}, sharedLabels: labels, value: total },
    ]
  }
}
