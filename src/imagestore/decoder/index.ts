import { availableParallelism } from 'node:os'
import type { JobOutcome, Task } from './messages.ts'
import { DecoderPool, type PoolOutcome } from './pool.ts'
import { Requesters, SERVICE_CLIENT } from './requesters.ts'
import { always } from './turn.ts'
import type { EngineOptions, ImageEngine } from './types.ts'

export { Requesters, SERVICE_CLIENT } from './requesters.ts'
export type * from './types.ts'

const MIB = 1024 * 1024

/** Children start with the first job. The engine does not keep the process alive while it has nothing to do. */
export function createImageEngine(options: EngineOptions = {}): ImageEngine {
  const memoryBudget = options.memoryBudget ?? 1200 * MIB
  const queue = options.queue ?? 64
  const pool = new DecoderPool({
    workers: options.workers ?? availableParallelism(),
    maxPixels: options.maxPixels ?? 64_000_000,
    timeoutMs: options.timeoutMs ?? 20_000,
    memoryBudget,
    largestJob: options.largestJob ?? memoryBudget,
    turn: options.turn ?? always,
    queue,
    queuePerClient: options.queuePerClient ?? queue,
    waitMs: options.waitMs ?? 30_000,
    restMs: options.restMs ?? 300_000,
  })

  const run = async <Outcome extends JobOutcome>(
    path: string,
    task: Task,
    signal: AbortSignal | undefined,
    requesters: Requesters | undefined,
    expected: (outcome: PoolOutcome) => outcome is PoolOutcome<Outcome>,
  ): Promise<PoolOutcome<Outcome>> => {
    const outcome = await pool.run(path, task, signal, requesters ?? new Requesters(SERVICE_CLIENT))
    if (!expected(outcome)) throw new Error(`${task.operation} gave the other operation's outcome`)
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
    derive: (path, plan, signal, { mark, requesters, hash } = {}) =>
      run(
        path,
        { operation: 'derive', plan, mark, hash },
        signal,
        requesters,
        (outcome) => outcome.kind !== 'image' || 'bytes' in outcome,
      ),
    stats: () => pool.stats(),
    close: () => pool.close(),
  }
}
