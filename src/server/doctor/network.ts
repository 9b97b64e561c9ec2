import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createAccounts } from '../../accounts/index.ts'
import { networkMatcher } from '../../http/client.ts'
import { maxBodyBytes } from '../../imagestore/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { asError } from '../../lib/errors.ts'
import { countOf } from '../../lib/text.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Config } from '../config/config.ts'
import { assertPortsFree, PortTaken } from '../ports.ts'
import { collect, fail, ok, warn, type Check, type Look, type Result } from './finding.ts'

const TIMEOUT_MS = 5_000
const UPLOAD_TIMEOUT_MS = 60_000
const MIB = 2 ** 20
const isLoopback = networkMatcher(['127.0.0.0/8', '::1'])

export interface NetworkSubject {
  readonly config: Config
  readonly database: Database
  readonly clock: Clock
}

/** The port, and what clients meet at the public URL. */
export function networkChecks({ clock, config, database }: NetworkSubject): readonly Check[] {
  /** The address of the service at the port, if it is this instance. */
  let local: string | undefined
  let leadsHere = true
  async function* atPort(): Look {
    const address = await addressAtPort(config)
    if ('level' in address) {
      yield address
      return
    }
    const { url } = address
    await using probe = await lendProbeKey(database, clock)
    if (typeof probe.key === 'string' && !(await opens(url, probe.key))) {
      yield fail(`another instance of Catalejo listens on ${url}`, 'stop it, or take another --port')
      return
    }
    local = url
    return `this instance listens on ${url}`
  }
  async function* atPublicUrl(): Look {
    if (local === undefined) return config.baseUrl === '' ? NOT_RUNNING : yield* checkStopped(config.baseUrl)
    await using probe = await lendProbeKey(database, clock)
    const found = await collect(checkPublicUrl(config, config.baseUrl || local, probe.key))
    leadsHere = found.every(({ level }) => level !== 'fail')
    yield* found
    return
  }
  async function* tries(run: (local: string, publicUrl: string) => Look): Look {
    if (local === undefined) return NOT_RUNNING
    return leadsHere ? yield* run(local, config.baseUrl || local) : 'not tried before the public URL works'
  }
  return [
    { name: 'port', run: atPort },
    { name: 'public URL', run: atPublicUrl },
    { name: 'proxy', run: () => tries((address, url) => checkForwarded(config, address, url)) },
    { name: 'metrics', run: () => tries((_, url) => checkMetrics(config, url)) },
  ]
}

const NOT_RUNNING = 'not tried: no service runs here'

/** Returns the address of the instance of Catalejo at the port, or what is found there instead. */
export async function addressAtPort(config: Config): Promise<Result | { readonly url: string }> {
  if (config.port === 0) return ok('the service takes a free one at each start')
  try {
    await assertPortsFree(config)
    return ok(`${config.port} of ${config.host} is free: no service runs here`)
  } catch (error) {
    if (error instanceof PortTaken && error.place !== undefined) return { url: error.place.address }
    return fail(asError(error).message, 'stop the other program, or take another --port')
  }
}

/** Lends a key that reads the records of an account; undefined if there is no account for it, an error if none can be stored. */
async function lendProbeKey(
  database: Database,
  clock: Clock,
): Promise<AsyncDisposable & { readonly key: string | Error | undefined }> {
  const accounts = createAccounts(database, clock)
  const [account] = await accounts.ofService('domainwatch')
  const outcome = account && (await accounts.createProbeKey(account.name).catch(asError))
  if (outcome === undefined || outcome instanceof Error || outcome.kind !== 'created')
    return { key: outcome instanceof Error ? outcome : undefined, async [Symbol.asyncDispose]() {} }
  return { key: outcome.key, [Symbol.asyncDispose]: () => accounts.remove(outcome.id) }
}

/** Returns a metric of the service that listens at an address; 0 if it has none of that name. */
export async function readMetric({ metricsAddress }: Config, local: string, name: string): Promise<number> {
  const url = metricsAddress === undefined ? local : `http://${metricsAddress.host}:${metricsAddress.port}`
  const text = await (await get(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? 0)
}

const apiUrl = (url: string, path: string, key: string) => `${url}/api/v1/domainwatch/${path}?api=${key}`

/** Whether a key of this instance opens the service at an address. */
async function opens(url: string, key: string): Promise<boolean> {
  const response = await get(apiUrl(url, 'key', key))
  return response.status === 200
}

const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })

/** What clients need of a proxy: the path, streams, and bodies as large as those that the service takes. */
async function* checkPublicUrl(config: Config, url: string, key: string | Error | undefined): Look {
  if (key instanceof Error) {
    yield fail(`nothing can be stored: ${key.message}`, 'free space on the disk, or mend the database')
    return
  }
  if (key === undefined) return 'not tried: there is no account of domainwatch to try it with'
  const isSame = await opens(url, key).catch(asError)
  if (isSame !== true) {
    yield isSame instanceof Error
      ? unreachable(url, isSame)
      : fail(`${url} does not lead to this instance`, 'check the address in the proxy, and --base-url')
    return
  }
  const prefix = new URL(url).pathname.replace(/\/$/, '')
  const home = await get(`${url}/`, { accept: 'text/html' })
  const target = home.headers.get('location') ?? ''
  if (new URL(target, url).pathname !== `${prefix}/console/`)
    yield fail(
      `${url}/ leads to ${target || home.status}`,
      `the proxy must keep the path ${prefix || '/'}, as --base-url names it`,
    )
  const { status } = await get(`${url}/readyz`)
  if (status !== 200)
    yield fail(
      `${url}/readyz answers ${status}`,
      'search the log for "not ready": it says which part does not work',
    )
  if (!(await streams(apiUrl(url, 'events', key))))
    yield warn('the proxy buffers event streams', 'turn off response buffering in the proxy')
  const limit = maxBodyBytes(config.maxImageBytes)
  const upload = `${url}/api/v1/imagestore/upload`
  for (const declared of [limit, limit + MIB]) {
    const answer = await post(upload, declared)
    if (answer === 401 || answer === 413) continue
    yield warn(
      `a body of ${Math.ceil(declared / MIB)} MiB is answered by ${typeof answer === 'number' ? `${answer} without JSON` : answer}, not by the service`,
      `let the proxy pass bodies of ${Math.ceil(limit / MIB) + 1} MiB: client_max_body_size in nginx, request_body in Caddy`,
    )
    break
  }
  return `${url} leads here, with streams and bodies of ${Math.ceil(limit / MIB)} MiB`
}

/** What clients meet at the public URL while no service runs here. */
async function* checkStopped(url: string): Look {
  const answer = await get(`${url}/healthz`).catch(asError)
  if (answer instanceof Error) yield unreachable(url, answer)
  else if (answer.status !== 200)
    yield fail(
      `the service is not running, and the proxy answers ${answer.status} at ${url}`,
      'start the service: systemctl start catalejo, or catalejo serve',
    )
  return `not tried: no service runs here, but one answers at ${url}`
}

function unreachable(url: string, error: Error): Result {
  const cause = error.cause instanceof Error ? error.cause : error
  const code = 'code' in cause ? String(cause.code) : ''
  if (/^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/.test(code))
    return fail(
      `the authority of the certificate of ${url} is not known here (${code})`,
      'NODE_EXTRA_CA_CERTS=/path/of/the/authority.pem catalejo doctor',
    )
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return fail(
      `the certificate of ${url} is not valid at the time of this clock (${code})`,
      'set the clock right, or renew the certificate',
    )
  // The message is empty where a name has several addresses.
  return fail(
    `${url} cannot be reached from here: ${cause.message || code}`,
    'check the proxy, its certificate, and --base-url',
  )
}

/** Whether the beginning of an event stream arrives without what follows. */
async function streams(url: string): Promise<boolean> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), TIMEOUT_MS)
  try {
    const response = await fetch(url, { signal: stop.signal })
    const part = await response.body?.getReader().read()
    return response.status === 200 && part?.done === false
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    stop.abort()
  }
}

/**
 * Sends a body without a key.
 * @returns the status of an answer in JSON, as the service gives it; else what came instead
 */
function post(url: string, bytes: number): Promise<number | string> {
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': bytes }
    const request = send(url, { method: 'POST', headers, timeout: UPLOAD_TIMEOUT_MS }, (response) => {
      const isJson = response.headers['content-type']?.startsWith('application/json') === true
      const status = response.statusCode ?? 0
      resolve(isJson ? status : `HTTP ${status} in ${response.headers['content-type'] ?? 'no type'}`)
      request.destroy()
    })
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', (error) => resolve(error.message))
    request.end(Buffer.alloc(bytes, 'A'))
  })
}

/** Whether requests come through a proxy that sends no X-Forwarded-For, or one that the service ignores. */
async function* checkForwarded(config: Config, local: string, publicUrl: string): Look {
  const readIgnored = () => readMetric(config, local, 'catalejo_forwarded_ignored_total')
  const readMissing = () => readMetric(config, local, 'catalejo_forwarded_missing_total')
  const before = await readIgnored()
  const missing = await readMissing()
  await get(`${publicUrl}/healthz`)
  const missingAfter = await readMissing()
  // Reading counts too where this machine is a trusted proxy.
  const isMissing = missingAfter - missing > (await readMissing()) - missingAfter
  const after = await readIgnored()
  if (isMissing && config.baseUrl !== '')
    yield warn(
      "the proxy sends no X-Forwarded-For: all its clients count as one address, and uploads get the proxy's",
      'let the proxy set X-Forwarded-For to the address of the client, as the files in deploy/ do',
    )
  if (after === 0) return 'no X-Forwarded-For is missing or ignored'
  const seen = after > before ? 'is ignored' : `was ignored ${countOf(after, 'time')} since the start`
  yield warn(
    `X-Forwarded-For ${seen}: all clients of the proxy count as one address, and uploads get the proxy's`,
    'name the address of the proxy in --trusted-proxies; the log says which it is',
  )
  return
}

async function* checkMetrics({ baseUrl, metricsAddress }: Config, url: string): Look {
  if (metricsAddress !== undefined) return `only on ${metricsAddress.host}:${metricsAddress.port}`
  const isOpen = (await get(`${url}/metrics`)).status === 200
  const { hostname } = new URL(url)
  if (isOpen && hostname !== 'localhost' && !isLoopback(hostname))
    yield warn(
      `${url}/metrics can be read by anyone`,
      'close the path in the proxy, or set --metrics-address',
    )
  return baseUrl === '' ? 'only this machine can read them' : 'closed at the public URL'
}
