import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../../server/config/config.ts'
import { createLog } from '../../lib/log.ts'
import { Gathering } from './gathering.ts'
import type { FromWorker } from './messages.ts'
import { Restarts } from './restarts.ts'

/** Workers end by themselves sooner than this after the order to stop, and its delay. */
const KILL_MS = 9_700

/**
 * Starts the workers, the first one alone: it migrates and makes the first keys. Replaces those that end, and stops all when
 * told to. Serves nothing itself but connections, which it hands to the workers in turn.
 */
export function servePrimary({ logLevel, stopDelay, workers }: Config): void {
  const log = createLog(logLevel)
  const alive = new Set<Worker>()
  /** Those that are ready, since when. */
  const serving = new Map<Worker, number>()
  const gathering = new Gathering()
  const restarts = new Restarts(workers)
  let hasServed = false
  /** Set when all is to end: the exit code. */
  let ending: number | undefined

  function start(): void {
    if (ending !== undefined) return
    const worker = cluster.fork()
    alive.add(worker)
    // Only our own workers speak on this channel.
    worker.on('message', (message: FromWorker) => hear(worker, message))
    worker.once('exit', (code: number | null, signal: string | null) => bury(worker, code, signal))
    worker.on('error', (error) => {
      log.error({ err: error, worker: worker.id }, 'trouble with a worker')
      // `exit` does not follow when it could not be started at all.
      if (worker.process.pid === undefined) bury(worker, 1, null)
    })
  }

  function hear(worker: Worker, message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        serving.set(worker, performance.now())
        if (!hasServed) for (let started = 1; started < workers; started++) start()
        hasServed = true
        return
      case 'gather':
        return gathering.ask(worker, serving.keys())
      case 'measured':
        return gathering.take(worker, message)
    }
  }

  function bury(worker: Worker, code: number | null, signal: string | null): void {
    if (!alive.delete(worker)) return
    const served = serving.get(worker)
    serving.delete(worker)
    gathering.forget(worker)
    if (ending !== undefined) {
      if (alive.size === 0) leave()
      return
    }
    // Its own line says why, where it could write one.
    if (!hasServed) return end(1, signal === null ? undefined : `could not start: ended by ${signal}`)
    log.error({ worker: worker.id, code, signal }, 'a worker ended')
    const pause = restarts.pauseAfter({ now: performance.now(), served, others: serving.values() })
    if (pause === undefined) return end(1, 'workers end again and again')
    setTimeout(start, pause)
  }

  /** @param fault told on standard error, in a line */
  function end(code: number, fault?: string): void {
    if (ending !== undefined) return
    ending = code
    if (fault !== undefined) console.error(`catalejo: ${fault}`)
    if (alive.size === 0) return leave()
    for (const worker of alive) worker.process.kill('SIGTERM')
    setTimeout(
      () => {
        for (const worker of alive) worker.process.kill('SIGKILL')
        leave()
      },
      stopDelay * 1000 + KILL_MS,
    )
  }

  function leave(): void {
    log.flush(() => process.exit(ending))
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(0))
  start()
}
