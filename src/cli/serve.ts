import type { Logger } from 'pino'
import { startApp, type App } from '../app.ts'
import type { Config } from '../config/config.ts'
import { firstRun } from './first-run.ts'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

/** From the order to stop until the process ends whatever still holds it. */
const STOP_MS = 9_300
const LAST_LINES_MS = 500

export async function serve(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  if (options === undefined) return
  if (options.positionals.length > 0) return usageFault(`serve takes no ${options.positionals[0]}`)

  // Nobody reading what is printed is no reason to stop serving.
  process.stdout.on('error', () => {})
  const app = await started(options.config)
  const { log } = app.context
  const welcomed = firstRun(app)
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      log.info({ signal }, 'stopping')
      setTimeout(() => leave(log, 0), STOP_MS).unref()
      // The first keys are being made, perhaps: their database must not go under them.
      void welcomed
        .then(() => app.close())
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
}

/** Ends the process once the last log lines are out, or nobody takes them. */
function leave(log: Logger, code: number): void {
  setTimeout(() => process.exit(code), LAST_LINES_MS)
  log.flush(() => process.exit(code))
}

/** What keeps the service from starting, such as a port that is taken, is told in one line. */
async function started(config: Config): Promise<App> {
  try {
    return await startApp(config)
  } catch (error) {
    console.error(`catalejo: could not start: ${error instanceof Error ? error.message : String(error)}`)
    // Parts that did start would keep the process alive.
    process.exit(1)
  }
}
