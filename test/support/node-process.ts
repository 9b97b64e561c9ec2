import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { reportLog } from './failure-report.ts'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const START_LIMIT_MS = 60_000
/** Lines of its log that are kept for a failure's report. */
const KEPT_LINES = 20_000
/** Lines that are printed immediately. */
const LINES_OF_REPORT = 50

/** Ends started processes with the test, however it ends: its own handlers do not run when it is killed. */
export const KILL_WITH_PARENT: readonly string[] =
  spawnSync('setpriv', ['--version'], { stdio: 'ignore' }).error === undefined
    ? ['setpriv', '--pdeathsig', 'KILL']
    : []

/** `catalejo serve` in a process of its own. Disposing of it kills it. */
export interface NodeProcess extends AsyncDisposable {
  /** Where clients find it. */
  readonly url: string
  /** Where it listens itself. */
  readonly port: number
  readonly pid: number
  readonly child: ChildProcess
  /** The last lines that it logged. */
  log(): string
  /** Resolves when it has ended, however that came about. */
  readonly ended: Promise<void>
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>
  /** `kill -9`, and waits for the end. */
  kill(): Promise<void>
}

export interface NodeOptions {
  /** Settings as `serve` takes them, without the dashes. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** What comes between the runtime and the program, such as `--import`. */
  readonly runtimeFlags?: readonly string[]
  /** A program and its arguments that start the runtime in their own way, such as `prlimit`. */
  readonly wrapper?: readonly string[]
}

/** Starts it; resolves once it listens. @throws when it ends before that */
export async function startNode(options: NodeOptions): Promise<NodeProcess> {
  const { flags, environment = {}, runtimeFlags = [], wrapper = [] } = options
  const words = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  )
  const [program = '', ...rest] = [
    ...KILL_WITH_PARENT,
    ...wrapper,
    process.execPath,
    ...runtimeFlags,
    CLI,
    'serve',
    ...words,
  ]
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  // A test run that dies must not leave it behind.
  const reap = () => void child.kill('SIGKILL')
  process.once('exit', reap)
  const ended = once(child, 'exit').then(() => void process.removeListener('exit', reap))

  const lines: string[] = []
  const listening = Promise.withResolvers<string>()
  let port = 0
  const keep = (line: string) => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    port ||= Number(/Server listening at http:\/\/[^"]*:(\d+)"/.exec(line)?.[1] ?? 0)
    const address = /"address":"(http[^"]+)"[^\n]*"listening"/.exec(line)?.[1]
    if (address !== undefined) listening.resolve(address)
  }
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', keep)
  const timer = setTimeout(reap, START_LIMIT_MS)
  ended
    .then(() => listening.reject(new Error(`the node ended before it listened:\n${lines.join('\n')}`)))
    .catch(() => {})
  const url = await listening.promise.finally(() => clearTimeout(timer))

  reportLog(url, () => lines.slice(-LINES_OF_REPORT).join('\n'))

  async function end(signal: 'SIGTERM' | 'SIGKILL') {
    child.kill(signal)
    await ended
  }
  const kill = () => end('SIGKILL')
  return {
    url,
    port,
    pid: child.pid ?? 0,
    child,
    log: () => lines.join('\n'),
    ended,
    stop: () => end('SIGTERM'),
    kill,
    [Symbol.asyncDispose]: kill,
  }
}
