import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { runStatement } from './postgres.ts'

const PROGRAM = '/usr/sbin/pgbouncer'
const READY_MS = 30_000
const NOBODY = 65_534

/** Why tests that need the pooler are skipped; false when it is here. */
export const noPgbouncer =
  spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).error !== undefined &&
  'pgbouncer is not installed (Debian package pgbouncer)'

export interface Pgbouncer {
  /** The address of the same database by way of the pooler. */
  at(database: string): string
  /** What its console says. */
  show(what: string): Promise<Record<string, unknown>[]>
  stop(): Promise<void>
}

/** pgbouncer in transaction mode before a server, with `connections` to it for each database. */
export async function startPgbouncer(server: string, connections: number): Promise<Pgbouncer> {
  const { hostname, port: serverPort } = new URL(server)
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-pgbouncer-'))
  const asRoot = process.getuid?.() === 0
  if (asRoot) await chown(folder, NOBODY, NOBODY)
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = postgres
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 500
logfile = ${join(folder, 'log')}
`,
  )
  // It refuses to run as root. `setpriv` lets it die with the test that started it, however that ends.
  const user = asRoot ? ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'] : []
  const child = spawn('setpriv', [...user, '--pdeathsig', 'KILL', PROGRAM, '-q', file], { stdio: 'ignore' })
  const at = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`

  async function stop() {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    }
    await rm(folder, { recursive: true, force: true })
  }

  try {
    const deadline = Date.now() + READY_MS
    for (;;) {
      try {
        await runStatement(at(new URL(server).pathname.slice(1)), 'SELECT 1')
        break
      } catch (error) {
        if (child.exitCode !== null || Date.now() > deadline) throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { at, show: (what) => runStatement(at('pgbouncer'), `SHOW ${what}`), stop }
}
