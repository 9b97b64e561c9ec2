import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { temporaryFolder } from './folder.ts'
import { freePort } from './free-port.ts'
import { skipWithout, startProgram } from './program.ts'

const CONFIGURATION = new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url)

export const noBalancer = skipWithout('haproxy')

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

interface BalancerOptions {
  /** Path of the nodes' base URL. */
  readonly path?: string
  readonly port?: number
  /** Sends all requests of a key to one node, so that clients read their own writes, as documented for deployments. */
  readonly keepsKeys?: boolean
}

/**
 * Starts the balancer as `deploy/` sets it up.
 * @param nodes ports on loopback
 */
export async function startBalancer(
  nodes: readonly [number, number],
  { path = '', port: ownPort, keepsKeys = false }: BalancerOptions = {},
): Promise<Balancer> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const port = ownPort ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const socket = join(folder.path, 'balancer.sock')
  const configuration = join(folder.path, 'haproxy.cfg')
  const text = await readFile(CONFIGURATION, 'utf8')
  await writeFile(
    configuration,
    keepsKeys ? text.replaceAll('balance leastconn', 'balance hash url_param(api)') : text,
  )
  stack.use(
    await startProgram(['haproxy', '-db', '-f', configuration], {
      isReady: async () => (await fetch(`${url}${path}/healthz`)).ok,
      environment: {
        BALANCER_ADDRESS: `127.0.0.1:${port}`,
        BALANCER_SOCKET: socket,
        ...(path !== '' && { BALANCER_PATH: path }),
        CATALEJO_NODE_1: `127.0.0.1:${nodes[0]}`,
        CATALEJO_NODE_2: `127.0.0.1:${nodes[1]}`,
      },
    }),
  )

  async function state(server: string): Promise<ServerState> {
    const [heading = '', ...lines] = (await ask(socket, 'show stat')).split('\n')
    const names = heading.replace(/^# /, '').split(',')
    const rows = lines.map((line) => line.split(','))
    const row = rows.find(([backend, name]) => `${backend}/${name}` === server)
    assert.ok(row !== undefined, `the balancer knows no ${server}`)
    return { status: row[names.indexOf('status')] ?? '', sessions: Number(row[names.indexOf('scur')]) }
  }

  const parts = stack.move()
  return {
    url,
    tell: (command) => ask(socket, command),
    until: (server, isSo) => eventually(async () => isSo(await state(server)), `${server} is as wanted`),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

async function ask(path: string, command: string): Promise<string> {
  const socket = connect(path)
  socket.end(`${command}\n`)
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return answer
}
