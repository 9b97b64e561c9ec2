import cluster from 'node:cluster'
import { OverloadError } from '../../lib/errors.ts'
import type { Measurements, Metrics } from '../../http/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Longer than the primary waits for the others. */
const GATHER_TIMEOUT_MS = 2_000

/** The processes that serve together, as one of them sees them. */
export interface Crew {
  /** This one's number, for the log: a worker that replaces another has a number of its own. */
  readonly worker: number
  /** Lets the others start, and answers for all of them from now on. */
  ready(metrics: Metrics): void
}

export function joinCrew(): Crew {
  return {
    worker: cluster.worker?.id ?? 0,
    ready(metrics) {
      const waiting = new Set<(all: readonly Measurements[]) => void>()
      // Only our own primary speaks on this channel.
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'gathered') {
          for (const resolve of waiting) resolve(message.all)
          waiting.clear()
        } else {
          void metrics
            .measurements()
            .then((measurements) => tell({ kind: 'measured', round: message.round, measurements }))
        }
      })
      metrics.gatherBy(() => {
        const { promise, resolve, reject } = Promise.withResolvers<readonly Measurements[]>()
        const timer = setTimeout(() => {
          waiting.delete(resolve)
          reject(new OverloadError())
        }, GATHER_TIMEOUT_MS)
        if (waiting.size === 0) tell({ kind: 'gather' })
        waiting.add(resolve)
        return promise.finally(() => clearTimeout(timer))
      })
      tell({ kind: 'ready' })
    },
  }
}

function tell(message: FromWorker): void {
  // The primary may be gone; this process then ends by itself.
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}
