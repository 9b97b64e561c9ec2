import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startServer, type Server } from './server.ts'
import { cpuSeconds, SERVER_CORE } from './machine.ts'
import type { Workspace } from './workspace.ts'

const CLI = fileURLToPath(new URL('../../bin/catalejo.js', import.meta.url))

/** What the first start prints, whatever is logged, up to its last line; later starts only log. */
const FIRST_READY = /Catalejo escucha en (\S+)[^]*imagestore +\w+ +\w{32}[^]*m=w_300/
const READY = /"address":"([^"]+)"/

export interface Keys {
  readonly domainwatch: string
  readonly imagestore: string
}

export interface Service extends Server {
  readonly data: string
  readonly keys: Keys
  /** An address of the API, its key included. */
  endpoint(path: `${keyof Keys}/${string}`, query?: Readonly<Record<string, string>>): string
}

export interface ServiceOptions {
  /** A data folder that is in use already, with its keys; else a new one. */
  readonly existing?: { readonly data: string; readonly keys: Keys }
  readonly flags?: readonly string[]
  /** `any`: on all cores. */
  readonly core?: number | 'any'
}

/** Our service with its default settings, log included, on a free port. */
export async function startService(workspace: Workspace, options: ServiceOptions = {}): Promise<Service> {
  const { existing, flags = [], core = SERVER_CORE } = options
  const data = existing?.data ?? join(workspace.folder, `data-${randomUUID()}`)
  const server = await startServer(
    {
      command: process.execPath,
      args: [CLI, 'serve', '--port', '0', '--data', data, ...flags],
      core: core === 'any' ? undefined : core,
      output: `${data}.log`,
    },
    existing === undefined ? FIRST_READY : READY,
  )
  const keys = existing?.keys ?? {
    domainwatch: keyIn(server.printed, 'domainwatch'),
    imagestore: keyIn(server.printed, 'imagestore'),
  }
  return workspace.keep({
    ...server,
    data,
    keys,
    endpoint(path, query = {}) {
      const api = path.startsWith('domainwatch/') ? keys.domainwatch : keys.imagestore
      return `${server.url}/api/v1/${path}?${new URLSearchParams({ api, ...query })}`
    },
  })
}

/** A value that the service tells of itself; 0 where it does not. */
export async function metric({ url }: Server, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? 0)
}

/** Ten million names take some half a minute, and as long to be merged; where others are at work, several times that. */
const MAX_READY_MS = 600_000
const MAX_SETTLING_S = 300

/** Until lists are answered from memory. */
export async function searchReady(service: Server): Promise<void> {
  const deadline = performance.now() + MAX_READY_MS
  while ((await metric(service, 'catalejo_search_ready')) !== 1) {
    if (performance.now() > deadline) throw new Error('the search does not become ready')
    await sleep(20)
  }
}

/** Until the service has nothing to do: parts of the index are merged after it is ready. */
export async function untilAtRest({ pid }: Server): Promise<void> {
  for (let i = 0; i < MAX_SETTLING_S; i++) {
    const before = cpuSeconds(pid) ?? 0
    await sleep(1_000)
    if ((cpuSeconds(pid) ?? 0) - before < 0.05) return
  }
  throw new Error('the service does not come to rest')
}

function keyIn(printed: string, service: keyof Keys): string {
  const key = new RegExp(`${service} +\\w+ +(\\w{32})`).exec(printed)?.[1]
  if (key === undefined) throw new Error(`the first start printed no key of ${service}`)
  return key
}
