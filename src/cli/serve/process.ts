import type { Logger } from 'pino'
import { startApp, type App } from '../../server/app.ts'
import { IDLE_GRACE_MS, PROCESS_EXIT_MS } from '../../server/shutdown-times.ts'
import type { Config } from '../../server/config/config.ts'
import { createLog } from '../../lib/log.ts'
import { failureLine } from '../failure.ts'
import { firstRun } from './first-run.ts'
import type { WorkerChannel } from './worker-channel.ts'

const LAST_LINES_MS = 500

/** Serves in this process, alone or as one of several workers. */
export async function serveProcess(config: Config, channel?: WorkerChannel): Promise<void> {
  const app = await start(config, channel)
  const { log } = app.context
  const welcomed = firstRun(app)
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      log.info({ signal }, 'stopping')
      const drainDelayMs = config.stopDelay * 1000
      setTimeout(() => exit(log, 0), drainDelayMs + PROCESS_EXIT_MS).unref()
      // The first keys may be being created: the database must stay open for that.
      void welcomed
        .then(() => app.close({ drainDelayMs, idleGraceMs: IDLE_GRACE_MS }))
        .then(
          () => exit(log, 0),
          (error: unknown) => {
            log.error({ err: error }, 'could not stop cleanly')
            exit(log, 1)
          },
        )
    })
  }
  log.info({ address: app.baseUrl }, 'listening')
  await welcomed
  channel?.ready(app.context.metrics)
}

/** Exits once the last log lines are written, or cannot be. */
function exit(log: Logger, code: number): void {
  setTimeout(() => process.exit(code), LAST_LINES_MS)
  log.flush(() => process.exit(code))
}

/** Starts the app. A fault that prevents it, such as a port in use, is reported in one line. */
async function start(config: Config, channel: WorkerChannel | undefined): Promise<App> {
  try {
    return await startApp(config, { log: createLog(config.logLevel, channel?.worker) })
  } catch (error) {
    console.error(`catalejo: could not start: ${failureLine(error)}`)
    // Threads that were started would keep the process alive.
    process.exit(1)
  }
}
