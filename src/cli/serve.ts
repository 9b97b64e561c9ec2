import cluster, { type Worker } from 'node:cluster'
import type { Measurements, Metrics } from '../http/observability.ts'
import { withTimeout } from '../lib/concurrency.ts'
import { OverloadError } from '../lib/errors.ts'
import { createLog } from '../lib/log.ts'
import type { Config } from '../server/config/config.ts'
import { WORKER_KILL_MS } from '../lib/limits.ts'
import type { Options } from './command.ts'

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

/** A worker that exited is replaced after this long. */
const RESTART_MS = 1_000

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

/** `catalejo serve`: in this process, or as the primary or a worker of several. */
export async function serve({ config }: Options): Promise<void> {
  // The service keeps running if standard output is closed.
  process.stdout.on('error', () => {})
  if (config.workers > 1 && cluster.isPrimary) return servePrimary(config)
  // The primary does not load the code of the workers.
  const { serveProcess } = await import('./serve-process.ts')
  return serveProcess(config, config.workers > 1 ? openWorkerChannel() : undefined)
}

/**
 * Starts the workers, the first one alone because it migrates the database and creates the first keys. Replaces workers that
 * exit, and stops all on SIGTERM or SIGINT. It only accepts connections and distributes them to the workers.
 */
function servePrimary({ logLevel, stopDelayMs, workers }: Config): void {
  const log = createLog(logLevel)
  const alive = new Set<Worker>()
  /** Workers that are ready. */
  const serving = new Set<Worker>()
  const metrics = new MetricsAggregation()
  let hasServed = false
  /** The exit code, once the service is stopping. */
  let exitCode: number | undefined

  function start(): void {
    if (exitCode !== undefined) return
    const worker = cluster.fork()
    alive.add(worker)
    worker.on('message', (message: FromWorker) => onMessage(worker, message))
    worker.once('exit', (code: number | null, signal: string | null) => onExit(worker, code, signal))
    worker.on('error', (error) => {
      log.error({ err: error, worker: worker.id }, 'worker error')
      // A worker that could not be started does not emit `exit`.
      if (worker.process.pid === undefined) onExit(worker, 1, null)
    })
  }

  function onMessage(worker: Worker, message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        serving.add(worker)
        if (!hasServed) for (let started = 1; started < workers; started++) start()
        hasServed = true
        return
      case 'gather':
        return void metrics.request(worker, serving)
      case 'measured':
        return metrics.receive(worker, message.measurements)
    }
  }

  function onExit(worker: Worker, code: number | null, signal: string | null): void {
    if (!alive.delete(worker)) return
    serving.delete(worker)
    metrics.remove(worker)
    if (exitCode !== undefined) {
      if (alive.size === 0) exit()
      return
    }
    // The worker has reported the reason itself, unless a signal ended it.
    if (!hasServed) return stop(1, signal === null ? undefined : `could not start: ended by ${signal}`)
    log.error({ worker: worker.id, code, signal }, 'worker exited')
    setTimeout(start, RESTART_MS)
  }

  /** @param fault printed on standard error */
  function stop(code: number, fault?: string): void {
    if (exitCode !== undefined) return
    exitCode = code
    if (fault !== undefined) console.error(`catalejo: ${fault}`)
    if (alive.size === 0) return exit()
    for (const worker of alive) worker.process.kill('SIGTERM')
    setTimeout(() => {
      for (const worker of alive) worker.process.kill('SIGKILL')
      exit()
    }, stopDelayMs + WORKER_KILL_MS)
  }

  function exit(): void {
    log.flush(() => process.exit(exitCode))
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(0))
  start()
}
