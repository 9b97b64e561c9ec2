import type { Logger } from 'pino'
import type { Staging } from '../storage/blobs/staging.ts'
import type { Clock } from '../lib/clock.ts'
import { ComponentHealth } from '../lib/component-health.ts'
import type { Database } from '../storage/database/database.ts'
import { StorageFault } from '../storage/database/faults.ts'
import { probeWrite } from '../storage/database/transfer-marks.ts'

const SECOND = 1_000
/** Checking the whole database takes a while, and damage rarely disappears. */
const INTEGRITY = { everyMs: Infinity, retryMs: 10 * SECOND, holdMs: 5 * SECOND }
/** A probe is one small flushed write. */
const WRITES = { everyMs: 10 * SECOND, retryMs: SECOND, holdMs: 5 * SECOND }
const PROBE = Buffer.alloc(4_096, 'probe')

interface Parts {
  readonly database: Database
  readonly staging: Staging
}

/** Whether the database and the image store work. Read by `/readyz`. */
export interface Health {
  /** Reports that an operation of the database failed. */
  databaseFailed(fault: StorageFault): void
  /** Reports that an operation of the image store, or of its disk, failed. */
  imagesFailed(fault: Error): void
  /** Starts to probe them. */
  watch(parts: Parts): void
  /** Rejects with the fault if something does not work. */
  check(): Promise<void>
}

export function createHealth(clock: Clock, log: Logger): Health {
  let parts: Parts | undefined
  const reporter = (part: string) => (fault: Error | undefined) => {
    if (fault === undefined) log.info({ part }, 'recovered')
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
