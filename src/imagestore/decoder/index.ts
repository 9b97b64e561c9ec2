import { availableParallelism } from 'node:os'
import { SERVICE } from '../../lib/client.ts'
import { DecoderPool } from './pool.ts'
import type { EngineOptions, ImageEngine, ImageFault } from './protocol.ts'

export type * from './protocol.ts'

const damaged = (fault: ImageFault, reason: string) => ({ kind: 'damaged', fault, reason }) as const

/** Creates an engine whose processes start with the first job. While idle, it does not keep the process alive. */
export function createImageEngine(options: Partial<EngineOptions> = {}): ImageEngine {
  const pool = new DecoderPool({
    workers: availableParallelism(),
    maxPixels: 64_000_000,
    timeoutMs: 20_000,
    largestJob: 1200 * 1024 * 1024,
    memory: options.largestJob ?? 1200 * 1024 * 1024,
    queue: 64,
    waitMs: 30_000,
    idleMs: 300_000,
    ...options,
  })
  return {
    async inspect(path, caller = SERVICE) {
      const outcome = await pool.run(path, { operation: 'inspect' }, caller)
      if (outcome.kind === 'too-slow') return damaged('too_many_pixels', 'took too long')
      if (outcome.kind === 'crashed') return damaged('damaged', 'crashed the decoder')
      if (outcome.kind === 'too-heavy') return damaged('too_many_pixels', outcome.reason)
      if (outcome.kind === 'image' && !('dhash' in outcome)) throw new Error('derived instead of inspected')
      return outcome
    },
    async derive(path, plan, caller = SERVICE, { watermark, size } = {}) {
      const outcome = await pool.run(path, { operation: 'derive', plan, watermark, size }, caller)
      if (outcome.kind === 'image' && !('bytes' in outcome)) throw new Error('inspected instead of derived')
      return outcome
    },
    stats: () => pool.stats(),
    close: () => pool.close(),
  }
}
