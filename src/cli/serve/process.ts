import type { Logger } from 'pino'
import { startApp, type App } from '../../server/app.ts'
import type { Config } from '../../server/config/config.ts'
import { createLog } from '../../lib/log.ts'
import { failureLine } from '../failure.ts'
import type { Crew } from './crew.ts'
import { firstRun } from './first-run.ts'

/** From the order to stop, and its delay, until the process ends whatever still holds it. */
const STOP_MS = 9_300
const LAST_LINES_MS = 500
/** Balancers ask every second or so, and believe it the second time. */
const IDLE_GRACE_MS = 2_000

/** Serves in this process, alone or as one of a crew. */
export async function serveProcess(config: Config, crew?: Crew): Promise<void> {
  const app = await started(config, crew)
  const { log } = app.context
  const welcomed = firstRun(app)
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      log.info({ signal }, 'stopping')
      const drainDelayMs = config.stopDelay * 1000
      setTimeout(() => leave(log, 0), drainDelayMs + STOP_MS).unref()
      // The first keys are being made, perhaps: their database must not go under them.
      void welcomed
        .then(() => app.close({ drainDelayMs, idleGraceMs: IDLE_GRACE_MS }))
        .then(
          () => leave(log, 0),
          (error: unknown) => {
            log.error({ err: error }, 'could not stop cleanly')
            leave(log, 1)
          },
        )
    })
  }
  log.info({ address: app.baseUrl }, 'listening')
  await welcomed
  crew?.ready(app.context.metrics)
}

/** Ends the process once the last log lines are out, or nobody takes them. */
function leave(log: Logger, code: number): void {
  setTimeout(() => process.exit(code), LAST_LINES_MS)
  log.flush(() => process.exit(code))
}

/** What keeps the service from starting, such as a port that is taken, is told in one line. */
async function started(config: Config, crew: Crew | undefined): Promise<App> {
  try {
    return await startApp(config, { log: createLog(config.logLevel, crew?.worker) })
  } catch (error) {
    console.error(`catalejo: could not start: ${failureLine(error)}`)
    // Parts that did start would keep the process alive.
    process.exit(1)
  }
}
