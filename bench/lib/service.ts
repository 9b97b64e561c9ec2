import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startServer, type Server } from './server.ts'
import { cpuSeconds, SERVER_CORE } from './machine.ts'
import type { Workspace } from './workspace.ts'

const CLI = fileURLToPath(new URL('../../bin/catalejo.js', import.meta.url))

/** Output of the first start up to its last line, at any log level. Later starts only log. */
const FIRST_READY = /Catalejo escucha en (\S+)[^]*imagestore +\w+ +\w{32}[^]*m=w_300/
const READY = /"address":"([^"]+)"/

export interface Keys {
  readonly domainwatch: string
  readonly imagestore: string
}

export interface Service extends Server {
  readonly data: string
  readonly keys: Keys
  /** Returns a URL of the API including its key. */
  endpoint(path: `${keyof Keys}/${string}`, query?: Readonly<Record<string, string>>): string
}

export interface ServiceOptions {
  /** An existing data folder with its keys; by default a new one. */
  readonly existing?: { readonly data: string; readonly keys: Keys }
  readonly flags?: readonly string[]
  /** `any` means all cores. */
  readonly core?: number | 'any'
}

/** Starts the service with its default settings, including the log, on a free port. */
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

/** Returns a metric of the service, or 0 if it is missing. */
export async function metric({ url }: Server, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? 0)
}

/**
 * Ten million names take about half a minute to load and as long to merge, or several times that on a busy machine.
 */
const MAX_READY_MS = 600_000
const MAX_SETTLING_S = 300

/** Waits until lists are served from memory. */
export async function searchReady(service: Server): Promise<void> {
  const deadline = performance.now() + MAX_READY_MS
  while ((await metric(service, 'catalejo_search_ready')) !== 1) {
    if (performance.now() > deadline) throw new Error('the search did not become ready')
    await sleep(20)
  }
}

/** Waits until the service is idle: it merges segments of the index after it is ready. */
export async function untilAtRest({ pid }: Server): Promise<void> {
  for (let i = 0; i < MAX_SETTLING_S; i++) {
    const before = cpuSeconds(pid) ?? 0
    await sleep(1_000)
    if ((cpuSeconds(pid) ?? 0) - before < 0.05) return
  }
  throw new Error('the service did not become idle')
}

function keyIn(printed: string, service: keyof Keys): string {
  const key = new RegExp(`${service} +\\w+ +(\\w{32})`).exec(printed)?.[1]
  if (key === undefined) throw new Error(`the first start printed no key of ${service}`)
  return key
}
