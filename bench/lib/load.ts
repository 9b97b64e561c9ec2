import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CLIENT_CORE, cpuMicros, cpuSeconds, has, pinned } from './machine.ts'
import { SECONDS } from './options.ts'
import type { Sample } from './compare.ts'
import type { Server } from './server.ts'

const run = promisify(execFile)
const AUTOCANNON = fileURLToPath(new URL('../node_modules/autocannon/autocannon.js', import.meta.url))

/** wrk is faster than any Node server; autocannon may be the bottleneck. */
const tool = has('wrk', '-v') ? 'wrk' : existsSync(AUTOCANNON) ? 'autocannon' : undefined
export const canRotate = tool === 'wrk'

export interface Load {
  readonly server: Pick<Server, 'pid'>
  readonly url: string
  readonly connections?: number
  /** `Name: value`. */
  readonly header?: string
  /** A wrk script from `rotation` or `posting`. */
  readonly script?: string
}

export interface Loaded extends Sample {
  /** 99th percentile of the latency, in milliseconds. */
  readonly p99Ms: number
}

/** Requests one URL repeatedly. Returns responses per second, and the server's CPU time for each. */
export async function load(
  { server, url, connections = 32, header, script }: Load,
  seconds = SECONDS,
): Promise<Loaded> {
  if (tool === undefined) throw new Error('no load generator: install wrk, or run npm ci in bench')
  const before = cpuSeconds(server.pid)
  const { requests, elapsed, p99Ms } = tool === 'wrk' ? await wrk() : await autocannon()
  const after = cpuSeconds(server.pid)
  return { perSecond: requests / elapsed, cpuMicros: cpuMicros(before, after, requests), p99Ms }

  async function wrk() {
    const scripts = script === undefined ? [] : ['-s', script]
    const headers = header === undefined ? [] : ['-H', header]
    const limits = [`-c${connections}`, `-d${seconds}s`, '--timeout', '10s']
    const args = ['-t1', '--latency', ...limits, ...headers, ...scripts, url]
    const { stdout } = await client('wrk', args)
    if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`failed responses from ${url}:\n${stdout}`)
    const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
    const [, p99 = 'NaN', unit = ''] = /99%\s+([\d.]+)(us|ms|s|m)/.exec(stdout) ?? []
    const p99Ms = Number(p99) * (MILLISECONDS[unit] ?? NaN)
    // As wrk measures it: its clock starts after connecting.
    return { requests, elapsed: requests / Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]), p99Ms }
  }

  async function autocannon() {
    const args = [AUTOCANNON, '--json', '-c', String(connections), '-d', String(seconds), url]
    const { stdout } = await client(process.execPath, args)
    const result: {
      '2xx': number
      '3xx': number
      non2xx: number
      errors: number
      duration: number
      latency: { p99: number }
    } = JSON.parse(stdout)
    // A 304 is an answer, too.
    if (result.non2xx - result['3xx'] + result.errors > 0) throw new Error(`failed responses from ${url}`)
    return { requests: result['2xx'] + result['3xx'], elapsed: result.duration, p99Ms: result.latency.p99 }
  }

  function client(command: string, args: readonly string[]) {
    const line = pinned(CLIENT_CORE, command, args)
    return run(line.command, line.args, { timeout: (seconds + 20) * 1000 })
  }
}

/** Milliseconds per unit in which wrk prints latencies. */
const MILLISECONDS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000, m: 60_000 }

/** Writes a wrk script that requests the paths in turn. */
export async function rotation(file: string, paths: readonly string[]): Promise<string> {
  const list = paths.map((path) => JSON.stringify(path)).join(',\n')
  await writeFile(
    file,
    `local paths = {${list}}
local requests, at = {}, 0
function init() for i, path in ipairs(paths) do requests[i] = wrk.format('GET', path) end end
function request() at = at % #requests + 1 return requests[at] end
`,
  )
  return file
}

/** Writes a wrk script that sends the same JSON repeatedly. */
export async function posting(file: string, body: string): Promise<string> {
  await writeFile(
    file,
    `wrk.method = 'POST'
wrk.headers['content-type'] = 'application/json'
wrk.body = ${JSON.stringify(body)}
`,
  )
  return file
}
