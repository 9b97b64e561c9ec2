import { availableParallelism } from 'node:os'
import { Requesters, SERVICE_CLIENT } from './job-queue.ts'
import { DecoderPool, type PoolOutcome } from './pool.ts'
import type { JobOutcome, Task } from './protocol.ts'
import type { EngineOptions, ImageEngine } from './types.ts'

export { Requesters, SERVICE_CLIENT } from './job-queue.ts'
export { machineTurns } from './machine-turns.ts'
export type * from './types.ts'

const MIB = 1024 * 1024

/** Creates an engine whose processes start with the first job. While idle, it does not keep the process alive. */
export function createImageEngine(options: EngineOptions = {}): ImageEngine {
  const memoryBudget = options.memoryBudget ?? 1200 * MIB
  const queue = options.queue ?? 64
  const pool = new DecoderPool({
    workers: options.workers ?? availableParallelism(),
    maxPixels: options.maxPixels ?? 64_000_000,
    timeoutMs: options.timeoutMs ?? 20_000,
    memoryBudget,
    largestJob: options.largestJob ?? memoryBudget,
    acquireTurn: options.acquireTurn ?? (async () => async () => {}),
    queue,
    queuePerClient: options.queuePerClient ?? queue,
    waitMs: options.waitMs ?? 30_000,
    idleMs: options.idleMs ?? 300_000,
  })

  const run = async <Outcome extends JobOutcome>(
    path: string,
    task: Task,
    signal: AbortSignal | undefined,
    requesters: Requesters | undefined,
    isExpected: (outcome: PoolOutcome) => outcome is PoolOutcome<Outcome>,
  ): Promise<PoolOutcome<Outcome>> => {
    const outcome = await pool.run(path, task, signal, requesters ?? new Requesters(SERVICE_CLIENT))
    if (!isExpected(outcome)) throw new Error(`${task.operation} returned the outcome of another operation`)
    return outcome
  }

  return {
    inspect: async (path, signal, requesters) => {
      const outcome = await run(
        path,
        { operation: 'inspect' },
        signal,
        requesters,
        (outcome) => outcome.kind !== 'image' || 'dhash' in outcome,
      )
      if (outcome.kind === 'too-slow') return { kind: 'damaged', reason: 'took too long' }
      return outcome.kind === 'too-heavy' ? { kind: 'damaged', reason: outcome.reason } : outcome
    },
    derive: (path, plan, signal, { watermark, requesters, hash } = {}) =>
      run(
        path,
        { operation: 'derive', plan, watermark, hash },
        signal,
        requesters,
        (outcome) => outcome.kind !== 'image' || 'bytes' in outcome,
      ),
    stats: () => pool.stats(),
    close: () => pool.close(),
  }
}
