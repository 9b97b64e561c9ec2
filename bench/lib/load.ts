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

/** wrk asks faster than any Node program answers; autocannon may be the slower side itself. */
const tool = has('wrk', '-v') ? 'wrk' : existsSync(AUTOCANNON) ? 'autocannon' : undefined
export const canRotate = tool === 'wrk'

export interface Load {
  readonly server: Pick<Server, 'pid'>
  readonly url: string
  readonly connections?: number
  /** `Name: value`. */
  readonly header?: string
  /** A wrk script from `rotation`. */
  readonly script?: string
}

/** Asks one address over and over, and tells how many answers a second came and what each cost the server. */
export async function load(
  { server, url, connections = 32, header, script }: Load,
  seconds = SECONDS,
): Promise<Sample> {
  if (tool === undefined) throw new Error('no load generator: install wrk, or run npm ci in bench')
  const before = cpuSeconds(server.pid)
  const { requests, elapsed } = tool === 'wrk' ? await wrk() : await autocannon()
  const after = cpuSeconds(server.pid)
  return { perSecond: requests / elapsed, cpuMicros: cpuMicros(before, after, requests) }

  async function wrk() {
    const scripts = script === undefined ? [] : ['-s', script]
    const headers = header === undefined ? [] : ['-H', header]
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', ...headers, ...scripts, url]
    const { stdout } = await client('wrk', args)
    if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`failed answers from ${url}:\n${stdout}`)
    const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
    // By its own clock, which starts behind the connecting.
    return { requests, elapsed: requests / Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]) }
  }

  async function autocannon() {
    const args = [AUTOCANNON, '--json', '-c', String(connections), '-d', String(seconds), url]
    const { stdout } = await client(process.execPath, args)
    const told: { '2xx': number; non2xx: number; errors: number; duration: number } = JSON.parse(stdout)
    if (told.non2xx + told.errors > 0) throw new Error(`failed answers from ${url}`)
    return { requests: told['2xx'], elapsed: told.duration }
  }

  function client(command: string, args: readonly string[]) {
    const line = pinned(CLIENT_CORE, command, args)
    return run(line.command, line.args, { timeout: (seconds + 20) * 1000 })
  }
}

/** Writes a wrk script that asks the paths in turn. */
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
