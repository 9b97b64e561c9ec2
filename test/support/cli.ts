import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CommanderError, type Command } from 'commander'
import { fail, failureLine } from '../../src/cli/output.ts'
import { createProgram } from '../../src/cli/program.ts'
import { systemClock, type Clock } from '../../src/lib/clock.ts'
import { reportLog } from './failure-report.ts'
import type { TestService } from './test-service.ts'

export const COMMAND = fileURLToPath(new URL('../../bin/catalejo.js', import.meta.url))
const KILL_AFTER = new URL('./kill-after.ts', import.meta.url).href

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

type Environment = Readonly<Record<string, string>>

/** Runs the command to its end. It sees only the given environment. */
export async function catalejo(args: readonly string[], environment: Environment = {}): Promise<CliResult> {
  const running = start(args, environment)
  await once(running.child, 'close')
  return { code: running.child.exitCode, stdout: running.stdout(), stderr: running.stderr() }
}

/**
 * Runs the command in this process, as starting one takes longer than most commands; not one that ends by a signal.
 * @param clock the time of the command
 */
export async function catalejoHere(args: readonly string[], clock: Clock = systemClock): Promise<CliResult> {
  // A command leaves its listeners to the end of its process.
  process.setMaxListeners(Infinity)
  let [stdout, stderr] = ['', '']
  const write = process.stdout.write.bind(process.stdout)
  const now = clock.now.bind(clock)
  const mocks = [
    mock.method(systemClock, 'now', now),
    mock.method(console, 'log', (line: string) => void (stdout += `${line}\n`)),
    mock.method(console, 'error', (line: string) => void (stderr += `${line}\n`)),
    mock.method(process.stderr, 'write', (text: string) => (stderr += text) !== ''),
    mock.method(process.stdout, 'write', (piece: string | Uint8Array, done?: () => void) => {
      // The test runner reports to its parent in bytes.
      if (typeof piece !== 'string') return write(piece, done)
      stdout += piece
      done?.()
      return true
    }),
  ]
  const program = createProgram()
  const commands: Command[] = [program]
  for (const command of commands) {
    command.configureOutput({ writeOut: (text) => void (stdout += text) })
    commands.push(...command.commands)
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    // The parser has reported it, or shown the help.
    if (!(error instanceof CommanderError)) fail(failureLine(error))
  } finally {
    for (const each of mocks) each.mock.restore()
  }
  const code = Number(process.exitCode ?? 0)
  process.exitCode = undefined
  return { code, stdout, stderr }
}

/** The flags that name the database of a service. */
export const toDatabaseFlags = ({
  databaseUrl,
  data,
}: Pick<TestService, 'databaseUrl' | 'data'>): string[] => [
  '--data',
  data,
  ...(databaseUrl === '' ? [] : ['--database-url', databaseUrl]),
]

/** Runs the command on the database of a service, in this process. */
export async function catalejoOn(service: TestService, args: readonly string[], clock?: Clock) {
  const { code, stdout, stderr } = await catalejoHere([...args, ...toDatabaseFlags(service)], clock)
  return { code, stdout, messages: messagesIn(stderr) }
}

let lists = 0

/** Imports a text as a file of a folder. @returns what the command wrote, without the path */
export async function importText(
  service: TestService,
  folder: string,
  text: string | Uint8Array,
  args: readonly string[] = [],
  clock?: Clock,
) {
  const path = join(folder, `lista-${++lists}`)
  await writeFile(path, text)
  const { code, stdout, messages } = await catalejoOn(service, ['import', ...args, path], clock)
  const plain = (line: string) => line.replaceAll(`${path}: `, '').replaceAll(`${path}:`, '')
  return { code, stdout: plain(stdout), messages: messages.map(plain) }
}

/** Runs the command until it has written `text` to standard error, and no further: `kill -9`. */
export async function killedAfter(text: string, args: readonly string[]): Promise<void> {
  const { child, stderr } = start(args, { NODE_OPTIONS: `--import=${KILL_AFTER}`, TEST_KILL_AFTER: text })
  await once(child, 'close')
  assert.equal(child.signalCode, 'SIGKILL', stderr())
}

const PROGRESS = /, \d+ %(?:,|$)|, after [\d:]+$/

/** The lines of standard error, without those that show progress: the slower the machine, the more of them. */
const messagesIn = (stderr: string): string[] =>
  stderr.split('\n').filter((line) => line !== '' && !PROGRESS.test(line))

export interface Served {
  readonly url: string
  readonly child: ChildProcess
  stdout(): string
  stderr(): string
  /** Sends SIGTERM. @returns the exit code and how long it took, in milliseconds */
  stop(): Promise<{ readonly code: number | null; readonly ms: number }>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * `catalejo serve` on a free port, once it listens.
 * @param by a command that starts others
 */
export async function serve(
  args: readonly string[],
  environment: Environment = {},
  by: readonly string[] = [],
): Promise<Served> {
  const running = start(['serve', '--port', '0', ...args], environment, by)
  const { child, stdout, stderr } = running
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const address = /"address":"([^"]+)"[^\n]*"listening"/.exec(stdout())?.[1]
      if (address !== undefined) resolve(address)
    })
    child.once('close', () => reject(new Error(`it ended: ${stdout()}${stderr()}`)))
  })

  reportLog(url, () => stdout() + stderr())

  async function end(signal: 'SIGTERM' | 'SIGKILL') {
    const begin = performance.now()
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close')
      child.kill(signal)
      await closed
    }
    return { code: child.exitCode, ms: performance.now() - begin }
  }

  return {
    ...running,
    url,
    stop: () => end('SIGTERM'),
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  }
}

/** Why a start fails whose port another instance has. */
export const takenBy = (url: string) =>
  `Catalejo already listens on ${url} (EADDRINUSE), with its console at ${url}/console/; ` +
  'choose another one with --port, or 0 for a free one'

/** Returns the keys that a first start prints, after the line that says it listens. */
export async function firstKeys(service: Served) {
  const keyOf = (name: string) =>
    new RegExp(`^ {2}${name} +\\w+ +(\\S{32})$`, 'm').exec(service.stdout())?.[1]
  for (;;) {
    const [domainwatch, imagestore] = [keyOf('domainwatch'), keyOf('imagestore')]
    if (domainwatch !== undefined && imagestore !== undefined) return { domainwatch, imagestore }
    await once(service.child.stdout ?? service.child, 'data')
  }
}

/** Starts the command; its output so far can be asked for. */
export function start(args: readonly string[], environment: Environment, by: readonly string[] = []) {
  const [command = process.execPath, ...line] = [...by, process.execPath, COMMAND, ...args]
  const child = spawn(command, line, { env: environment })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  // A test run that dies must not leave the service behind.
  const reap = () => void child.kill('SIGKILL')
  process.once('exit', reap)
  child.once('exit', () => process.removeListener('exit', reap))
  return { child: child satisfies ChildProcess, stdout: () => stdout, stderr: () => stderr }
}
