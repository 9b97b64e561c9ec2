import { startApp } from '../app.ts'
import { firstRun } from './first-run.ts'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

/** From the order to stop until the process ends whatever still holds it. */
const STOP_MS = 9_500

export async function serve(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  if (options === undefined) return
  if (options.positionals.length > 0) return usageFault(`serve takes no ${options.positionals[0]}`)

  const app = await startApp(options.config)
  const { log } = app.context
  log.info({ address: app.baseUrl }, 'listening')
  await firstRun(app)

  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      log.info({ signal }, 'stopping')
      setTimeout(() => process.exit(0), STOP_MS).unref()
      void app.close().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'could not stop cleanly')
          process.exit(1)
        },
      )
    })
  }
}
