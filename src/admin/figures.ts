import type { Measurements } from '../http/observability.ts'

const PREFIX = 'catalejo_'
/** Samples of an hour, one a minute. */
const MAX_SAMPLES = 60

type Figures = Readonly<Record<string, number>>

/** The service's own gauges and counters, each summed over its labels: those of now, and of each minute of the last hour. */
export class FigureHistory {
  readonly #measure: () => Promise<Measurements>
  #samples: readonly Figures[] = []

  /** @param measure returns the measurements of all processes that serve together */
  constructor(measure: () => Promise<Measurements>) {
    this.#measure = measure
  }

  async now(): Promise<Figures> {
    const figures: Record<string, number> = {}
    for (const one of await this.#measure()) {
      if (!('name' in one && 'type' in one && 'values' in one)) continue
      if (typeof one.name !== 'string' || !one.name.startsWith(PREFIX) || one.type === 'histogram') continue
      if (!Array.isArray(one.values)) continue
      figures[one.name] = one.values.reduce((sum: number, { value }: { value: number }) => sum + value, 0)
    }
    return figures
  }

  /** Takes the sample of a minute. */
  async sample(): Promise<void> {
    this.#samples = [...this.#samples, await this.now()].slice(-MAX_SAMPLES)
  }

  /** Returns the samples of the last hour by figure, oldest first; 0 where there was none. */
  lastHour(): Readonly<Record<string, readonly number[]>> {
    const names = Object.keys(this.#samples.at(-1) ?? {})
    return Object.fromEntries(names.map((name) => [name, this.#samples.map((figures) => figures[name] ?? 0)]))
  }
}
