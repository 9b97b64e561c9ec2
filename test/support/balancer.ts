import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

const CONFIGURATION = fileURLToPath(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url))
const LIMIT_MS = 20_000

export const noBalancer =
  spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).error !== undefined && 'haproxy is not installed'

export interface Balancer extends AsyncDisposable {
  readonly url: string
  /** Says a word on the administration socket. */
  tell(command: string): Promise<string>
  /** Resolves once a server of a backend is as wanted, by the balancer's own count. */
  until(server: string, isSo: (state: ServerState) => boolean): Promise<void>
}

export interface ServerState {
  /** `UP`, `DOWN`, `DRAIN`, … */
  readonly status: string
  /** Requests under way. */
  readonly sessions: number
}

/**
 * The balancer as `deploy/` sets it up.
 * @param nodes ports on loopback
 * @param folder for its socket
 * @param path of the nodes' base URL
 */
export async function startBalancer(
  nodes: readonly [number, number],
  folder: string,
  path = '',
): Promise<Balancer> {
  const port = await freePort()
  const socket = join(folder, 'balancer.sock')
  const child = spawn('haproxy', ['-db', '-f', CONFIGURATION], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      BALANCER_ADDRESS: `127.0.0.1:${port}`,
      BALANCER_SOCKET: socket,
      ...(path !== '' && { BALANCER_PATH: path }),
      CATALEJO_NODE_1: `127.0.0.1:${nodes[0]}`,
      CATALEJO_NODE_2: `127.0.0.1:${nodes[1]}`,
    },
  })
  let complaints = ''
  child.stderr.on('data', (chunk) => (complaints += String(chunk)))
  await once(child, 'spawn')
  const reap = () => void child.kill('SIGKILL')
  process.once('exit', reap)

  async function state(server: string): Promise<ServerState> {
    const [heading = '', ...lines] = (await ask(socket, 'show stat')).split('\n')
    const names = heading.replace(/^# /, '').split(',')
    const rows = lines.map((line) => line.split(','))
    const row = rows.find(([backend, name]) => `${backend}/${name}` === server)
    assert.ok(row !== undefined, `the balancer knows no ${server}`)
    return { status: row[names.indexOf('status')] ?? '', sessions: Number(row[names.indexOf('scur')]) }
  }

  async function until(server: string, isSo: (state: ServerState) => boolean) {
    const deadline = performance.now() + LIMIT_MS
    for (;;) {
      const now = await state(server).catch(() => undefined)
      if (now !== undefined && isSo(now)) return
      assert.equal(child.exitCode, null, complaints)
      assert.ok(performance.now() < deadline, `${server} is ${JSON.stringify(now)}`)
      await pause(20)
    }
  }

  return {
    url: `http://127.0.0.1:${port}`,
    tell: (command) => ask(socket, command),
    until,
    async [Symbol.asyncDispose]() {
      process.removeListener('exit', reap)
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}

async function ask(path: string, command: string): Promise<string> {
  const socket = connect(path)
  socket.end(`${command}\n`)
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return answer
}
