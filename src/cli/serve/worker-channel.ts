import cluster, { type Worker } from 'node:cluster'
import type { Measurements, Metrics } from '../../http/observability/metrics.ts'
import { withTimeout } from '../../lib/concurrency.ts'
import { OverloadError } from '../../lib/errors.ts'

/** Messages between the primary process and its workers. Nothing else writes to this channel. */
export type FromWorker =
  /** It serves requests, and the first keys exist. */
  | { readonly kind: 'ready' }
  /** It requests the measurements of all workers. */
  | { readonly kind: 'gather' }
  | { readonly kind: 'measured'; readonly measurements: Measurements }

type ToWorker =
  { readonly kind: 'measure' } | { readonly kind: 'gathered'; readonly all: readonly Measurements[] }

/** How long the primary waits for the measurements of a worker before it uses the previous ones. */
const MEASURE_TIMEOUT_MS = 1_000
/** How long a worker waits for the primary. Longer than the primary waits for the other workers. */
const GATHER_TIMEOUT_MS = 2_000

/** The primary starts this one first, and alone. */
const FIRST_WORKER = 1

/** A worker's connection to the primary. */
export type WorkerChannel = ReturnType<typeof openWorkerChannel>

export function openWorkerChannel() {
  const worker = cluster.worker?.id ?? 0
  return {
    /** The number of this worker, for the log. A worker that replaces another gets a new one. */
    worker,
    /** Whether other workers may be serving already. */
    isFurther: worker > FIRST_WORKER,
    /** Lets the primary start the other workers, and aggregates the metrics of all from now on. */
    ready(metrics: Metrics): void {
      const waiting = new Set<(all: readonly Measurements[]) => void>()
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'gathered') {
          for (const resolve of waiting) resolve(message.all)
          waiting.clear()
        } else {
          void metrics
            .measurements()
            .then((measurements) => sendToPrimary({ kind: 'measured', measurements }))
        }
      })
      metrics.gatherBy(() => {
        const { promise, resolve, reject } = Promise.withResolvers<readonly Measurements[]>()
        const timer = setTimeout(() => {
          waiting.delete(resolve)
          reject(new OverloadError())
        }, GATHER_TIMEOUT_MS)
        if (waiting.size === 0) sendToPrimary({ kind: 'gather' })
        waiting.add(resolve)
        return promise.finally(() => clearTimeout(timer))
      })
      sendToPrimary({ kind: 'ready' })
    },
  }
}

function sendToPrimary(message: FromWorker): void {
  // The primary may have ended; then this process ends too.
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}

/** Collects the measurements of all workers in the primary, one round at a time, and sends them to the workers that asked. */
export class MetricsAggregation {
  readonly #last = new Map<Worker, Measurements>()
  /** Workers whose measurements the round still waits for. */
  readonly #missing = new Map<Worker, () => void>()
  #round: Promise<void> | undefined

  /** @param workers all that serve */
  async request(asker: Worker, workers: Iterable<Worker>): Promise<void> {
    this.#round ??= this.#measureAll(workers).finally(() => (this.#round = undefined))
    await this.#round
    sendToWorker(asker, { kind: 'gathered', all: [...this.#last.values()] })
  }

  async #measureAll(workers: Iterable<Worker>): Promise<void> {
    const answers = Array.from(workers, (worker) => {
      sendToWorker(worker, { kind: 'measure' })
      return new Promise<void>((resolve) => this.#missing.set(worker, resolve))
    })
    await withTimeout(Promise.all(answers), MEASURE_TIMEOUT_MS)
  }

  receive(worker: Worker, measurements: Measurements): void {
    this.#last.set(worker, measurements)
    this.#missing.get(worker)?.()
  }

  remove(worker: Worker): void {
    this.#last.delete(worker)
    this.#missing.get(worker)?.()
    this.#missing.delete(worker)
  }
}

function sendToWorker(worker: Worker, message: ToWorker): void {
  // It may be about to exit.
  if (worker.isConnected()) worker.send(message, undefined, () => {})
}
