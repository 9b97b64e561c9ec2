import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './folder.ts'
import { freePort } from './free-port.ts'
import { runStatement } from './postgres.ts'
import { skipWithout, startProgram } from './program.ts'

const PROGRAM = '/usr/sbin/pgbouncer'
const NOBODY = 65_534

export const noPgbouncer = skipWithout(PROGRAM)

export interface Pgbouncer extends AsyncDisposable {
  /** The address of the same database by way of the pooler. */
  at(database: string): string
  /** What its console says. */
  show(what: string): Promise<Record<string, unknown>[]>
}

/** pgbouncer in transaction mode before a server, with `connections` to it for each database. */
export async function startPgbouncer(server: string, connections: number): Promise<Pgbouncer> {
  const { hostname, port: serverPort } = new URL(server)
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const asRoot = process.getuid?.() === 0
  if (asRoot) await chown(folder.path, NOBODY, NOBODY)
  const port = await freePort()
  const file = join(folder.path, 'pgbouncer.ini')
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
logfile = ${join(folder.path, 'log')}
`,
  )
  // It refuses to run as root.
  const user = asRoot
    ? ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
    : []
  const at = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const own = at(new URL(server).pathname.slice(1))
  const isReady = async () => (await runStatement(own, 'SELECT 1')).length > 0
  stack.use(await startProgram([...user, PROGRAM, '-q', file], { isReady }))
  const parts = stack.move()
  return {
    at,
    show: (what) => runStatement(at('pgbouncer'), `SHOW ${what}`),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
