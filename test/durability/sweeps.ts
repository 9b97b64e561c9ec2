import { ImageEngine } from '../../src/imagestore/decoder/index.ts'
import { ImageStore } from '../../src/imagestore/store.ts'
import type { TestService } from '../support/service.ts'

/** The sweeps as the service runs them, at a moment of the test's choosing. */
export function getSweeps({ app: { context } }: TestService) {
  const { database, blobs, staging, clock } = context
  // It starts no process unless asked to decode.
  const store = new ImageStore({
    database,
    blobs,
    staging,
    engine: new ImageEngine(),
    clock,
    forget: async () => {},
  })
  return {
    orphans: (ageMs: number) => store.sweepOrphans(ageMs),
    staged: (ageMs: number) => staging.sweep(clock.now(), ageMs),
    trash: () => store.sweepRemovals(),
  }
}
