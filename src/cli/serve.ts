import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../server/config/config.ts'
import { WORKER_KILL_MS } from '../server/limits.ts'
import { createLog } from '../lib/log.ts'
import type { Options } from './command.ts'
import { MetricsAggregation, openWorkerChannel, type FromWorker } from './serve/worker-channel.ts'

/** `catalejo serve`: in this process, or as the primary or a worker of several. */
export async function serve({ config }: Options): Promise<void> {
  // The service keeps running if standard output is closed.
  process.stdout.on('error', () => {})
  if (config.workers > 1 && cluster.isPrimary) return servePrimary(config)
  // The primary does not load the code of the workers.
  const { serveProcess } = await import('./serve/process.ts')
  return serveProcess(config, config.workers > 1 ? openWorkerChannel() : undefined)
}

/**
 * Starts the workers, the first one alone because it migrates the database and creates the first keys. Replaces workers that
 * exit, and stops all on SIGTERM or SIGINT. It only accepts connections and distributes them to the workers.
 */
function servePrimary({ logLevel, stopDelayMs, workers }: Config): void {
  const log = createLog(logLevel)
  const alive = new Set<Worker>()
  /** Workers that are ready, and since when. */
  const serving = new Map<Worker, number>()
  const metrics = new MetricsAggregation()
  const restarts = new RestartPolicy(workers)
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
        serving.set(worker, performance.now())
        if (!hasServed) for (let started = 1; started < workers; started++) start()
        hasServed = true
        return
      case 'gather':
        return void metrics.request(worker, serving.keys())
      case 'measured':
        return metrics.receive(worker, message.measurements)
    }
  }

  function onExit(worker: Worker, code: number | null, signal: string | null): void {
    if (!alive.delete(worker)) return
    const served = serving.get(worker)
    serving.delete(worker)
    metrics.remove(worker)
    if (exitCode !== undefined) {
      if (alive.size === 0) exit()
      return
    }
    // The worker has reported the reason itself, unless a signal ended it.
    if (!hasServed) return stop(1, signal === null ? undefined : `could not start: ended by ${signal}`)
    log.error({ worker: worker.id, code, signal }, 'worker exited')
    const delayMs = restarts.delayAfter({ now: performance.now(), served, others: serving.values() })
    if (delayMs === undefined) return stop(1, 'workers keep exiting')
    setTimeout(start, delayMs)
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

/** A worker that exited is replaced after a delay, which doubles with each exit of the last minute. */
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 10_000
const MINUTE = 60_000
/** A worker that served this long did not fail at its start. */
const STEADY_MS = 10_000
/** Early exits per worker, while none is steady, after which the service ends so that its supervisor notices. */
const MAX_EARLY_EXITS = 5

/** All times in milliseconds. */
interface WorkerExit {
  readonly now: number
  /** Since when it served; undefined if it never did. */
  readonly served: number | undefined
  /** Since when the others serve. */
  readonly others: Iterable<number>
}

/** Decides when a worker that exited is replaced, and when the service gives up. */
export class RestartPolicy {
  readonly #maxEarlyExits: number
  #exits: number[] = []
  /** Early exits since a worker was steady. */
  #earlyExits = 0

  constructor(workers: number) {
    this.#maxEarlyExits = MAX_EARLY_EXITS * workers
  }

  /** @returns the delay of the replacement in milliseconds; undefined if the service is to end */
  delayAfter({ now, served, others }: WorkerExit): number | undefined {
    const isSteady = (since: number) => now - since >= STEADY_MS
    const anySteady = [...(served === undefined ? [] : [served]), ...others].some(isSteady)
    this.#earlyExits = anySteady ? 0 : this.#earlyExits + 1
    if (this.#earlyExits > this.#maxEarlyExits) return undefined
    this.#exits = [...this.#exits.filter((at) => now - at < MINUTE), now]
    return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#exits.length - 1))
  }
}
