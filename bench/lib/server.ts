import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pinned } from './machine.ts'

const START_MS = 20_000
const STOP_MS = 12_000

export interface Server {
  readonly pid: number
  readonly url: string
  stop(): Promise<void>
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly core: number | undefined
  /** File for stdout and stderr: a pipe would cost the benchmark CPU time. */
  readonly output: string
  readonly cwd?: string
  /** The complete environment; by default that of this process. */
  readonly env?: NodeJS.ProcessEnv
}

/** Starts a program and waits until its output matches `ready`, whose first group is its URL. */
export async function startServer(launch: Launch, ready: RegExp): Promise<Server & { printed: string }> {
  const child = start(launch)
  const printed = await until(child.process, launch, async () => {
    const text = await readFile(launch.output, 'utf8')
    return ready.test(text) ? text : undefined
  })
  const url = ready.exec(printed)?.[1] ?? ''
  return { ...child.server(url), printed }
}

/** Starts a program that listens on `port` and waits until it responds to `path`. */
export async function startServerAt(
  launch: Launch,
  port: number,
  { path = '', milliseconds = START_MS } = {},
): Promise<Server> {
  const child = start(launch)
  const url = `http://127.0.0.1:${port}`
  await until(child.process, launch, () => fetch(`${url}${path}`).catch(() => undefined), milliseconds)
  return child.server(url)
}

function start(launch: Launch) {
  const { command, args } = pinned(launch.core, launch.command, launch.args)
  const file = openSync(launch.output, 'w')
  const stdio: StdioOptions = ['ignore', file, file]
  const child = spawn(command, args, {
    stdio,
    ...(launch.cwd === undefined ? {} : { cwd: launch.cwd }),
    ...(launch.env === undefined ? {} : { env: launch.env }),
  })
  closeSync(file)
  const pid = child.pid
  if (pid === undefined) throw new Error(`${command} does not start`)
  return { process: child, server: (url: string): Server => ({ pid, url, stop: () => stop(child) }) }
}

async function until<T>(
  child: ChildProcess,
  launch: Launch,
  probe: () => Promise<T | undefined>,
  milliseconds = START_MS,
): Promise<T> {
  const deadline = performance.now() + milliseconds
  while (performance.now() < deadline && child.exitCode === null) {
    const found = await probe()
    if (found !== undefined) return found
    await sleep(25)
  }
  child.kill('SIGKILL')
  throw new Error(`${launch.command} did not start:\n${await readFile(launch.output, 'utf8')}`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(kill)
}

/** Returns a port that was free a moment ago, for programs that cannot choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('no free port')
  return address.port
}
