import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chown, cp, mkdtemp, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import pg from 'pg'
import { postgresFolder } from '../servers/packages.ts'
import { freePort } from './free-port.ts'

/** Who runs the server where we are root, as which it refuses to run: nobody, who owns nothing else. */
const NOBODY = 65_534
const READY_MS = 30_000

/** Disposing of it stops it. */
export interface TestPostgres extends AsyncDisposable {
  /** URL of the database `postgres` for a superuser. */
  readonly url: string
  readonly process: ChildProcess
  /**
   * Ends the server, and starts it again after `downMs`. `fast` ends sessions in order, `immediate` leaves them to
   * recovery.
   */
  restart(mode: 'fast' | 'immediate', downMs?: number): Promise<void>
  /** Stops all its processes where they are. @returns a function that resumes them */
  freeze(): () => void
  stop(): Promise<void>
}

/**
 * A PostgreSQL server of its own on loopback, without fsync: tests do not survive power loss.
 * @param binaries folder with `initdb` and `postgres`; by default the packaged server
 */
export async function startPostgres(
  binaries?: string,
  settings: readonly string[] = [],
): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-postgres-'))
  const owner = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const bin = binaries ?? (await unpacked(folder))
  const data = join(folder, 'data')
  await mkdir(data)
  if (owner.uid !== undefined) await Promise.all([folder, data].map((path) => chown(path, NOBODY, NOBODY)))
  const options: SpawnOptions = { ...owner, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  await finished(spawn(join(bin, 'initdb'), initdb, options))
  const port = await freePort()
  const flags = [
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'max_connections=200',
    ...settings,
  ]
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const launch = () =>
    spawn(
      join(bin, 'postgres'),
      ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', ...flags.flatMap((flag) => ['-c', flag])],
      { ...options, stdio: 'ignore' },
    )
  let server = launch()
  async function end(signal: 'SIGINT' | 'SIGQUIT') {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exit = once(server, 'exit')
    server.kill(signal)
    await exit
  }
  async function stop() {
    await end('SIGQUIT')
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await ready(url, server)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url,
    get process() {
      return server
    },
    async restart(mode, downMs = 0) {
      await end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await new Promise((resolve) => setTimeout(resolve, downMs))
      server = launch()
      await ready(url, server)
    },
    freeze() {
      const frozen: number[] = []
      const stopTree = (pid: number) => {
        // The parent first: it makes the others.
        process.kill(pid, 'SIGSTOP')
        frozen.push(pid)
        for (const child of getChildren(pid)) stopTree(child)
      }
      if (server.pid !== undefined) stopTree(server.pid)
      return () => {
        for (const pid of frozen.splice(0)) process.kill(pid, 'SIGCONT')
      }
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function getChildren(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

/** Opens a session of the superuser, such as one that holds a transaction open. Disposing of it ends it. */
export async function openSession(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // A test may terminate it.
  client.on('error', () => {})
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

/** Runs one statement as the superuser. */
export async function runStatement(url: string, statement: string): Promise<Record<string, unknown>[]> {
  await using session = await openSession(url)
  return (await session.query<Record<string, unknown>>(statement)).rows
}

/** The address of another database on the same server. */
export function databaseAt(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return String(address)
}

/**
 * Copies the packaged server, so that nobody may run it wherever the project lies, and makes the symbolic links that
 * the package's install script would have made.
 */
async function unpacked(folder: string): Promise<string> {
  const root = postgresFolder()
  await cp(join(root, 'native'), join(folder, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  })
  const links: unknown = JSON.parse(
    await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  )
  for (const link of Array.isArray(links) ? links : []) {
    const target = join(folder, String(link.target))
    await symlink(relative(dirname(target), join(folder, String(link.source))), target).catch(() => {})
  }
  return join(folder, 'native', 'bin')
}

async function finished(child: ChildProcess): Promise<void> {
  let output = ''
  child.stderr?.on('data', (chunk) => (output += String(chunk)))
  child.stdout?.resume()
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`initdb failed: ${output}`)
}

async function ready(url: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + READY_MS
  for (;;) {
    try {
      await runStatement(url, 'SELECT 1')
      return
    } catch (error) {
      if (server.exitCode !== null || Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
