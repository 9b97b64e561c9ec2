import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { hashOf } from '../imagestore/image-fields.ts'
import { createLog } from '../lib/log.ts'
import { startApp, type App } from '../server/app.ts'
import type { Config } from '../server/config/config.ts'
import { IDLE_GRACE_MS, PROCESS_EXIT_MS } from '../lib/limits.ts'
import { assertPortsFree, placeOf, PortTaken } from '../server/ports.ts'
import { failureLine } from './output.ts'
import type { WorkerChannel } from './serve.ts'

/** An image of the package; the path is the same from src/ and dist/. */
const PICTURE = new URL('../../assets/catalejo.png', import.meta.url)

const EXAMPLES = JSON.stringify([
  { domain: 'catalejo', length: 8, reserve: 0, status: 1, date_reg: '2025-12-31 14:30:34' },
  { domain: 'ñandú', length: 5, reserve: 0, status: 0, date_reg: '2025-12-30 09:15:00' },
])

/**
 * In an empty database, creates an account and a key for each service, and prints them with examples. Later starts print
 * where the service is, if a person reads it.
 */
async function printWelcome({ baseUrl, context }: App): Promise<void> {
  const keys = await context.accounts.createFirst([
    { name: 'grupo', service: 'domainwatch' },
    { name: 'aplicacion', service: 'imagestore' },
  ])
  if (keys === undefined) {
    if (process.stdout.isTTY) process.stdout.write(`\n${whereText(baseUrl)}\n`)
    return
  }
  const [group = '', application = ''] = keys
  process.stdout.write(await welcome(baseUrl, group, application))
}

const whereText = (baseUrl: string) => `Catalejo escucha en ${baseUrl}
La consola está en ${placeOf(baseUrl).console}
`

/** The keys, and commands that work when pasted. */
async function welcome(baseUrl: string, domainwatchKey: string, imagestoreKey: string): Promise<string> {
  const picture = fileURLToPath(PICTURE)
  const hash = hashOf(await readFile(PICTURE))
  const api = `${baseUrl}/api/v1`
  return `
${whereText(baseUrl)}
Se creó una cuenta con su clave para cada servicio. Se muestran solo esta vez:
  domainwatch  grupo       ${domainwatchKey}
  imagestore   aplicacion  ${imagestoreKey}

Registrar dos dominios, listarlos y pedir los servidores de nombres de uno:
  curl '${api}/domainwatch/add?api=${domainwatchKey}' --data-urlencode 'data=${EXAMPLES}'
  curl '${api}/domainwatch/list?api=${domainwatchKey}'
  curl '${api}/domainwatch/dns?api=${domainwatchKey}&domain=nic.cl'

Subir una imagen y abrir su enlace, tal cual y transformada:
  curl '${api}/imagestore/upload' -F 'api=${imagestoreKey}' -F 'info={"name":"catalejo.png","mime":"image/png","ip":"127.0.0.1"}' -F 'image=@${picture}'
  curl -o original.png '${baseUrl}/i/${hash}'
  curl -o pequena.webp '${baseUrl}/i/${hash}.webp&m=w_300'

`
}

const LAST_LINES_MS = 500

/** Serves in this process, alone or as one of several workers. */
export async function serveProcess(config: Config, channel?: WorkerChannel): Promise<void> {
  const app = await start(config, channel)
  const { log } = app.context
  const welcomed = channel?.isFurther === true ? Promise.resolve() : printWelcome(app)
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      log.info({ signal }, 'stopping')
      const drainDelayMs = config.stopDelayMs
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
  log.info(placeOf(app.baseUrl), 'listening')
  await welcomed
  if (channel === undefined) return
  // The others begin to load their records then.
  await app.loaded
  channel.ready(app.context.metrics)
}

/** Exits once the last log lines are written, or cannot be. */
function exit(log: Logger, code: number): void {
  setTimeout(() => process.exit(code), LAST_LINES_MS)
  log.flush(() => process.exit(code))
}

/** Starts the app. A fault that prevents it, such as a port in use, is reported in one line. */
async function start(config: Config, channel: WorkerChannel | undefined): Promise<App> {
  const log = createLog(config.logLevel, channel?.worker)
  const isFurther = channel?.isFurther === true
  try {
    // The first worker has the ports of the others.
    if (!isFurther) await assertPortsFree(config)
    return await startApp(config, { log }, isFurther ? 'loaded' : 'immediately')
  } catch (error) {
    // For programs, in addition to the line for people.
    if (error instanceof PortTaken && !process.stdout.isTTY) log.fatal({ ...error.place }, 'port taken')
    console.error(`catalejo: could not start: ${failureLine(error)}`)
    // Threads that were started would keep the process alive.
    process.exit(1)
  }
}
