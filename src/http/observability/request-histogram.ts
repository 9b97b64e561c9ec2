import { Histogram } from 'prom-client'

type Labels = 'method' | 'route' | 'status'

interface Series {
  readonly labels: Readonly<Record<Labels, string | number>>
  /** Of each bucket alone, and last of what is past all bounds. */
  readonly counts: number[]
  sum: number
}

/**
 * The time of requests, by kind. The library's own way to count works out a text from the labels and one from the bound at
 * every observation, which took a twentieth of a small answer; this keeps numbers and makes texts when it is asked for them.
 */
export class RequestSeconds extends Histogram<Labels> {
  readonly #name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #series = new Map<string, Series>()
  #last: Series | undefined

  constructor(configuration: ConstructorParameters<typeof Histogram<Labels>>[0], bounds: readonly number[]) {
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
    // Most often it is the same as the last time; making a text to look it up is dearer.
    const last = this.#last
    if (last?.labels.status === status && last.labels.route === route && last.labels.method === method)
      return last
    // Methods, routes and statuses are few, so looking the series up by one text is safe, and quick.
    const key = `${method} ${status} ${route}`
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { labels: { method, route, status }, counts: this.#bounds.map(() => 0).concat(0), sum: 0 }
      this.#series.set(key, series)
    }
    return (this.#last = series)
  }

  /** What the library asks for, whatever the form it then writes. */
  async getForPromString() {
    return {
      name: this.#name,
      help: this.#help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...this.#series.values()].flatMap((series) => this.#told(series)),
    }
  }

  #told({ labels, counts, sum }: Series) {
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
