import type { Worker } from 'node:cluster'
import type { Measurements } from '../../http/observability/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** For a worker that is too busy to answer, what it told the last time counts. */
const WAIT_MS = 1_000

/** Collects the measurements of all workers, one round at a time, for whoever of them is asked. */
export class Gathering {
  readonly #last = new Map<Worker, Measurements>()
  readonly #askers = new Set<Worker>()
  readonly #missing = new Set<Worker>()
  #round = 0
  #timer: NodeJS.Timeout | undefined

  /** @param workers all that serve */
  ask(asker: Worker, workers: Iterable<Worker>): void {
    this.#askers.add(asker)
    if (this.#timer !== undefined) return
    this.#round++
    for (const worker of workers) {
      this.#missing.add(worker)
      send(worker, { kind: 'measure', round: this.#round })
    }
    this.#timer = setTimeout(() => this.#end(), WAIT_MS)
  }

  take(worker: Worker, { round, measurements }: Extract<FromWorker, { kind: 'measured' }>): void {
    this.#last.set(worker, measurements)
    if (round === this.#round) this.#missing.delete(worker)
    this.#endWhenComplete()
  }

  forget(worker: Worker): void {
    this.#last.delete(worker)
    this.#askers.delete(worker)
    this.#missing.delete(worker)
    this.#endWhenComplete()
  }

  #endWhenComplete(): void {
    if (this.#timer !== undefined && this.#missing.size === 0) this.#end()
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#missing.clear()
    const all = [...this.#last.values()]
    for (const asker of this.#askers) send(asker, { kind: 'gathered', all })
    this.#askers.clear()
  }
}

function send(worker: Worker, message: ToWorker): void {
  // It may be on its way out.
  if (worker.isConnected()) worker.send(message, undefined, () => {})
}
