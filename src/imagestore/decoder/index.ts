import { availableParallelism } from 'node:os'
import { Requesters, SERVICE_CLIENT } from '../../lib/requesters.ts'
import { DecoderPool } from './pool.ts'
import type { EngineOptions, ImageEngine } from './protocol.ts'

export { machineLock } from './machine-lock.ts'
export type * from './protocol.ts'

const DEFAULT_MEMORY = 1200 * 1024 * 1024
const DEFAULT_QUEUE = 64

/** Creates an engine whose processes start with the first job. While idle, it does not keep the process alive. */
export function createImageEngine(options: Partial<EngineOptions> = {}): ImageEngine {
  const pool = new DecoderPool({
    workers: availableParallelism(),
    maxPixels: 64_000_000,
    timeoutMs: 20_000,
    memoryBudget: DEFAULT_MEMORY,
    largestJob: options.memoryBudget ?? DEFAULT_MEMORY,
    acquireTurn: async () => async () => {},
    queue: DEFAULT_QUEUE,
    queuePerClient: options.queue ?? DEFAULT_QUEUE,
    waitMs: 30_000,
    idleMs: 300_000,
    ...options,
  })
  const service = () => new Requesters(SERVICE_CLIENT)
  return {
    async inspect(path, signal, requesters = service()) {
      const outcome = await pool.run(path, { operation: 'inspect' }, signal, requesters)
      if (outcome.kind === 'too-slow') return { kind: 'damaged', reason: 'took too long' }
      if (outcome.kind === 'crashed') return { kind: 'damaged', reason: 'crashed the decoder' }
      if (outcome.kind === 'too-heavy') return { kind: 'damaged', reason: outcome.reason }
      if (outcome.kind === 'image' && !('dhash' in outcome)) throw new Error('derived instead of inspected')
      return outcome
    },
    async derive(path, plan, signal, { watermark, requesters = service(), hash } = {}) {
      const task = { operation: 'derive', plan, watermark, hash } as const
      const outcome = await pool.run(path, task, signal, requesters)
      if (outcome.kind === 'image' && !('bytes' in outcome)) throw new Error('inspected instead of derived')
      return outcome
    },
    stats: () => pool.stats(),
    close: () => pool.close(),
  }
}
