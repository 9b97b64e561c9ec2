// Directus with a separate PostgreSQL database and folder. Installed by `npm --prefix bench ci`.
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { SERVER_CORE } from '../lib/machine.ts'
import { freePort, startServerAt, type Server } from '../lib/server.ts'
import type { Workspace } from '../lib/workspace.ts'

const run = promisify(execFile)
const PACKAGES = fileURLToPath(new URL('../node_modules', import.meta.url))
/** The program behind the command `directus`, without its check for a newer version. */
const CLI = join(PACKAGES, '@directus', 'api', 'dist', 'cli', 'run.js')
const PRELOADED = fileURLToPath(new URL('without-sandbox.js', import.meta.url))
/** The installation creates some forty tables. */
const INSTALL_MS = 120_000
/** Directus loads some thousand modules before it listens. */
const START_MS = 60_000

export const hasDirectus = existsSync(CLI)

export interface Directus extends Server {
  /** Token of the administrator, for `Authorization: Bearer …` or `access_token` in a query. */
  readonly token: string
  /** Folder of its local storage. */
  readonly uploads: string
}

export interface DirectusOptions {
  /** URL of an empty PostgreSQL database that nothing else uses. */
  readonly database: string
  /** The core it runs on; `any` means all cores. */
  readonly core?: number | 'any'
  /** Environment variables of Directus. */
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * Installs Directus into an empty database and starts it on a free port. Uses its defaults
 * except for telemetry, the log level and the pressure limiter.
 * @throws if it does not respond within a minute
 */
export async function startDirectus(workspace: Workspace, options: DirectusOptions): Promise<Directus> {
  const { database, core = SERVER_CORE, settings = {} } = options
  const folder = join(workspace.folder, `directus-${randomUUID()}`)
  const uploads = join(folder, 'uploads')
  await mkdir(uploads, { recursive: true })
  const port = await freePort()
  const token = randomBytes(16).toString('hex')
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SECRET: randomBytes(32).toString('hex'),
    DB_CLIENT: 'pg',
    DB_CONNECTION_STRING: database,
    ADMIN_EMAIL: 'bench@example.com',
    ADMIN_PASSWORD: randomBytes(16).toString('hex'),
    ADMIN_TOKEN: token,
    STORAGE_LOCATIONS: 'local',
    STORAGE_LOCAL_DRIVER: 'local',
    STORAGE_LOCAL_ROOT: uploads,
    EXTENSIONS_PATH: join(folder, 'extensions'),
    TELEMETRY: 'false',
    LOG_LEVEL: 'error',
    PRESSURE_LIMITER_ENABLED: 'false',
    NODE_ENV: 'production',
    ...settings,
  }
  const args = ['--import', PRELOADED, CLI]
  await run(process.execPath, [...args, 'bootstrap'], { cwd: folder, env, timeout: INSTALL_MS })
  const server = await startServerAt(
    {
      command: process.execPath,
      args: [...args, 'start'],
      core: core === 'any' ? undefined : core,
      output: join(folder, 'log'),
      cwd: folder,
      env,
    },
    port,
    { path: '/server/ping', milliseconds: START_MS },
  )
  return workspace.keep({ ...server, token, uploads })
}
