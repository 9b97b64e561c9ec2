import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { KILL_WITH_PARENT } from './node-process.ts'

const START_LIMIT_MS = 20_000
/** What the service itself answers when it is overloaded, for what never reached a node. */
const OVERLOADED = 'El servicio está saturado, inténtelo de nuevo'
const ERRORS: Readonly<Record<number, string>> = {
  400: 'La solicitud no es válida',
  408: 'La solicitud tardó demasiado',
  500: OVERLOADED,
  502: OVERLOADED,
  503: OVERLOADED,
  504: OVERLOADED,
}
const errorAnswers = Object.entries(ERRORS).map(
  ([status, msg]) =>
    `http-error status ${status} content-type "application/json; charset=utf-8" ` +
    `string '${JSON.stringify({ status: Number(status), msg })}'` +
    (msg === OVERLOADED ? ' hdr retry-after 1' : ''),
)

export const noHaproxy =
  spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).error !== undefined && 'not installed: haproxy'

export interface Balancer {
  readonly url: string
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * How requests are dealt out: `in turn`, so that hardly two of one client reach the same node, or `by key`, so that
 * clients read their own writes; requests without a key in the query are still distributed in turn.
 */
type Deal = 'in turn' | 'by key'

interface BalancerOptions {
  readonly deal?: Deal
  readonly port?: number
}

/**
 * A balancer on loopback.
 * @param nodes their addresses; they may go away and come back
 */
export async function startHaproxy(
  nodes: readonly string[],
  options: BalancerOptions = {},
): Promise<Balancer> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-haproxy-'))
  const { deal = 'in turn', port: ownPort = await freePort() } = options
  const url = `http://127.0.0.1:${ownPort}`
  const path = join(folder, 'haproxy.cfg')
  await writeFile(path, configuration(nodes, ownPort, deal))
  // In the foreground, so that it is ours to end.
  const [program, ...words] = [...KILL_WITH_PARENT, 'haproxy', '-db', '-f', path]
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  const reap = () => void child.kill('SIGKILL')
  process.once('exit', reap)
  const ended = once(child, 'exit')
  const deadline = Date.now() + START_LIMIT_MS
  while (
    !(await fetch(`${url}/healthz`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`haproxy does not pass requests on: ${said}`)
    await pause(20)
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
      process.removeListener('exit', reap)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function configuration(nodes: readonly string[], port: number, deal: Deal): string {
  return `
global
  maxconn 4000
  # Heads as long as the nodes take.
  tune.bufsize 49152
defaults
  mode http
  timeout connect 2s
  timeout client 130s
  # Longer than a node takes for its own clear answer.
  timeout server 100s
  timeout queue 5s
  timeout check 5s
  timeout http-keep-alive 60s
  ${errorAnswers.join('\n  ')}
frontend public
  bind 127.0.0.1:${port}
  option forwardfor
  default_backend nodes
backend nodes
  balance ${deal === 'by key' ? 'hash url_param(api)' : 'roundrobin'}
  option httpchk GET /healthz
  # Only what no node has seen may be sent to another one: a write must not happen twice.
  retry-on conn-failure
  retries 3
  option redispatch 1
  default-server check inter 500ms fall 4 rise 1 observe layer4 error-limit 5 on-error mark-down
  ${nodes.map((node, index) => `server node${index} ${new URL(node).host}`).join('\n  ')}
`
}
