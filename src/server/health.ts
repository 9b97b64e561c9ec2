import type { Logger } from 'pino'
import type { Staging } from '../storage/blobs/staging.ts'
import type { Clock } from '../lib/clock.ts'
import { ComponentHealth } from '../lib/component-health.ts'
import type { Database } from '../storage/database/database.ts'
import { StorageFault } from '../storage/database/faults.ts'
import { probeWrite } from '../storage/database/moves.ts'

const SECOND = 1_000
/** Reading a whole database takes a while, and what is damaged seldom heals. */
const INTEGRITY = { everyMs: Infinity, retryMs: 10 * SECOND, holdMs: 5 * SECOND }
/** A probe is one small write, flushed. */
const WRITES = { everyMs: 10 * SECOND, retryMs: SECOND, holdMs: 5 * SECOND }
const PROBE = Buffer.alloc(4_096, 'probe')

interface Parts {
  readonly database: Database
  readonly staging: Staging
}

/** Whether requests succeed, as far as database and image store are concerned. Read by `/readyz`. */
export interface Health {
  /** The storage failed an operation of the database. */
  databaseFailed(fault: StorageFault): void
  /** The image store, or the disk under it, failed an operation. */
  imagesFailed(fault: Error): void
  /** Probes these from then on. */
  watch(parts: Parts): void
  /** Rejects with what is wrong. */
  check(): Promise<void>
}

export function createHealth(clock: Clock, log: Logger): Health {
  let parts: Parts | undefined
  const reporter = (part: string) => (fault: Error | undefined) => {
    if (fault === undefined) log.info({ part }, 'works again')
    else log.error({ part, err: fault }, fault instanceof StorageFault ? fault.advice : fault.message)
  }
  const integrity = new ComponentHealth({
    ...INTEGRITY,
    probe: async () => {
      const [fault] = (await parts?.database.check()) ?? []
      if (fault !== undefined) throw new StorageFault('damaged', 'the database', fault)
    },
    report: reporter('database'),
  })
  const writes = new ComponentHealth({
    ...WRITES,
    probe: async () => parts && probeWrite(parts.database, clock.now()),
    report: reporter('database'),
  })
  const images = new ComponentHealth({
    ...WRITES,
    probe: async () => {
      const staged = await parts?.staging.write(PROBE)
      try {
        await staged?.durable
      } finally {
        await staged?.discard()
      }
    },
    report: reporter('images'),
  })
  return {
    databaseFailed: (fault) => (fault.kind === 'damaged' ? integrity : writes).failed(fault),
    imagesFailed: (fault) => images.failed(fault),
    watch: (opened) => (parts = opened),
    async check() {
      await Promise.all([integrity.check(), writes.check(), images.check()])
    },
  }
}
