import type { Logger } from 'pino'
import type { Staging } from '../storage/blobs/staging.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { StorageFault } from '../storage/database/faults.ts'
import { probeWrite } from '../storage/database/transfer-marks.ts'
import { HttpError, asError } from '../lib/errors.ts'
import { withTimeout } from '../lib/concurrency.ts'

/** How long a check waits for a probe before it returns the last known state. All times in milliseconds. */
const PROBE_WAIT_MS = 500
const REPORT_EVERY_MS = 60_000
/** While the component fails, a slow probe is repeated after this many times its duration. */
const PAUSE_PER_PROBE = 10

interface ComponentHealthOptions {
  /** Rejects if the component fails. A `HttpError`, such as an overload, says nothing about the component. */
  readonly probe: () => Promise<unknown>
  /** Minimum interval of probes while it works; Infinity for never. */
  readonly everyMs: number
  /** Minimum interval of probes while it fails. */
  readonly retryMs: number
  /** How long it counts as failing after a failed request, even if a probe succeeds. */
  readonly holdMs: number
  /** Called with the fault, at most once a minute, and with undefined when it works again. */
  readonly report: (fault: Error | undefined) => void
}

/** Follows the health of a component, by recent failures of requests and by probes. */
function followHealth({ probe, everyMs, retryMs, holdMs, report }: ComponentHealthOptions) {
  let fault: Error | undefined
  let [failedAt, probedAt, reportedAt] = [-Infinity, -Infinity, -Infinity]
  let probeMs = 0
  let probing: Promise<void> | undefined
  let isClosed = false

  /** Records that a request failed because of this component. */
  function failed(error: Error): void {
    if (isClosed) return
    fault = error
    failedAt = performance.now()
    if (failedAt - reportedAt < REPORT_EVERY_MS) return
    reportedAt = failedAt
    report(error)
  }

  async function runProbe(): Promise<void> {
    probedAt = performance.now()
    try {
      await probe()
      if (performance.now() - failedAt < holdMs || fault === undefined) return
      fault = undefined
      reportedAt = -Infinity
      report(undefined)
    } catch (error) {
      if (!(error instanceof HttpError)) failed(asError(error))
    } finally {
      probeMs = performance.now() - probedAt
      probing = undefined
    }
  }

  return {
    failed,
    /** Rejects with the fault if the component fails. Probes it if a probe is due. */
    async check(): Promise<void> {
      const pause = fault === undefined ? everyMs : Math.max(retryMs, PAUSE_PER_PROBE * probeMs)
      if (performance.now() - probedAt >= pause) probing ??= runProbe()
      if (probing !== undefined) await withTimeout(probing, PROBE_WAIT_MS)
      if (fault !== undefined) throw fault
    },
    /** Waits a moment for the running probe. What fails from now on does so because parts are being closed. */
    async close(): Promise<void> {
      isClosed = true
      if (probing !== undefined) await withTimeout(probing, PROBE_WAIT_MS)
    },
  }
}

const SECOND = 1_000
/** Checking the whole database takes a while, and damage rarely disappears. */
const INTEGRITY = { everyMs: Infinity, retryMs: 10 * SECOND, holdMs: 5 * SECOND }
/** A probe is one small flushed write. */
const WRITES = { everyMs: 10 * SECOND, retryMs: SECOND, holdMs: 5 * SECOND }
const PROBE = Buffer.alloc(4_096, 'probe')

/** Whether the database and the image store work. Read by `/readyz`. */
export type Health = ReturnType<typeof createHealth>

export function createHealth(clock: Clock, log: Logger) {
  let parts: { readonly database: Database; readonly staging: Staging } | undefined
  const reporter = (part: string) => (fault: Error | undefined) => {
    if (fault === undefined) log.info({ part }, 'recovered')
    else log.error({ part, err: fault }, fault instanceof StorageFault ? fault.advice : fault.message)
  }
  const integrity = followHealth({
    ...INTEGRITY,
    probe: async () => {
      const [fault] = (await parts?.database.check()) ?? []
      if (fault !== undefined) throw new StorageFault('damaged', 'the database', fault)
    },
    report: reporter('database'),
  })
  const writes = followHealth({
    ...WRITES,
    probe: async () => {
      try {
        if (parts !== undefined) await probeWrite(parts.database, clock.now())
      } catch (error) {
        // Nothing is written to a damaged database, which `integrity` reports.
        if (!(error instanceof StorageFault && error.kind === 'damaged')) throw error
      }
    },
    report: reporter('database'),
  })
  const images = followHealth({
    ...WRITES,
    probe: async () => {
      await using staged = await parts?.staging.write(PROBE)
      await staged?.durable
    },
    report: reporter('images'),
  })
  const components = [integrity, writes, images]
  return {
    /** Reports that an operation of the database failed. */
    databaseFailed: (fault: StorageFault) => (fault.kind === 'damaged' ? integrity : writes).failed(fault),
    /** Reports that an operation of the image store, or of its disk, failed. */
    imagesFailed: (fault: Error) => images.failed(fault),
    /** Starts to probe them. */
    watch: (opened: typeof parts) => void (parts = opened),
    /** Rejects with the fault if something does not work. */
    async check() {
      await Promise.all(components.map((component) => component.check()))
    },
    /** Ends probing. A long check of the database ends when that is closed. */
    async close() {
      await Promise.all(components.map((component) => component.close()))
    },
  }
}
