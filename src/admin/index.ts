import type { AuditPlace } from '../http/auth/queries.ts'
import { clientAbort } from '../http/client.ts'
import { simpleEndpoint, type EndpointShared } from '../http/endpoint.ts'
import { invalidCursor, toPage } from '../http/headers.ts'
import { integer, text } from '../http/parameters.ts'
import type { HttpServer } from '../http/server.ts'
import type { Measurements } from '../http/observability.ts'
import { withTimeout } from '../lib/concurrency.ts'
import { countDomains, totalStorage } from './queries.ts'
import { accountRoutes, type AccountsOptions } from './accounts.ts'
import { keysRoutes } from './keys.ts'
import { systemAnswer, doctorAnswer, auditAnswer } from './schemas.ts'

const PING_TIMEOUT_MS = 2_000
const DEFAULT_PAGE = 100
const MAX_PAGE = 1_000

const PREFIX = 'catalejo_'
/** Samples of an hour, one a minute. */
const MAX_SAMPLES = 60

type Figures = Readonly<Record<string, number>>

/** The service's own gauges and counters, each summed over its labels: those of now, and of each minute of the last hour. */
export class FigureHistory {
  readonly #measure: () => Promise<Measurements>
  #samples: readonly Figures[] = []

  /** @param measure returns the measurements of all processes that serve together */
  constructor(measure: () => Promise<Measurements>) {
    this.#measure = measure
  }

  async now(): Promise<Figures> {
    const figures: Record<string, number> = {}
    for (const one of await this.#measure()) {
      if (!('name' in one && 'type' in one && 'values' in one)) continue
      if (typeof one.name !== 'string' || !one.name.startsWith(PREFIX) || one.type === 'histogram') continue
      if (!Array.isArray(one.values)) continue
      figures[one.name] = one.values.reduce((sum: number, { value }: { value: number }) => sum + value, 0)
    }
    return figures
  }

  /** Takes the sample of a minute. */
  async sample(): Promise<void> {
    this.#samples = [...this.#samples, await this.now()].slice(-MAX_SAMPLES)
  }

  /** Returns the samples of the last hour by figure, oldest first; 0 where there was none. */
  lastHour(): Readonly<Record<string, readonly number[]>> {
    const names = Object.keys(this.#samples.at(-1) ?? {})
    return Object.fromEntries(names.map((name) => [name, this.#samples.map((figures) => figures[name] ?? 0)]))
  }
}

export interface AdminOptions extends AccountsOptions {
  readonly version: string
  readonly timeZone: string
  readonly settings: readonly { readonly name: string; readonly value: string; readonly from: string }[]
  readonly engine: 'sqlite' | 'postgres'
  readonly blobs: { readonly kind: 'files' | 's3'; readonly ping: () => Promise<void> }
  readonly figures: FigureHistory
  /** Looks at the instance. */
  readonly diagnose: () => Promise<readonly object[]>
  readonly baseUrl: () => string
}

/** The endpoints for the owner of the service, with a key of the service `admin`. */
export function adminRoutes(app: HttpServer, shared: EndpointShared, options: AdminOptions): void {
  const { baseUrl, database, clock, diagnose, version, timeZone, engine, blobs, figures, settings } = options
  accountRoutes(app, shared, options)
  keysRoutes(app, shared, options)

  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/admin/audit',
    scopes: [],
    parameters: {
      account: text('Only entries of this account or `cli:` user', 400),
      limit: integer(`Entries per page; default ${DEFAULT_PAGE}`, 1, MAX_PAGE),
      cursor: text('Cursor of the page, from the `Link` header of the previous one', 100),
    },
    operation: 'listAuditEntries',
    summary: 'Read who did what',
    description:
      'Lists changes of keys, limits and rules, deletions and bulk changes of the last year, the latest first. The `Link` header has the ' +
      'address of the next page, if there is one.',
    answers: { 200: auditAnswer },
    async handle(call) {
      const { account, limit = DEFAULT_PAGE, cursor } = call.values
      const after = cursor === undefined ? undefined : readCursor(cursor)
      const entries = await shared.audit.page(limit + 1, after, account?.trim().normalize('NFC'))
      const shown = toPage(call, baseUrl, entries, limit, ({ at, id }) => `${at}.${id}`)
      const data = shown.map(({ at, actor, key_id, action, subject }) => {
        return { date: Math.floor(at / 1_000), account: actor, key: key_id, action, subject }
      })
      return { status: 200, count: data.length, data }
    },
  })

  /** Calls of the doctor that overlap share one look. */
  let running: Promise<readonly object[]> | undefined
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/admin/doctor',
    scopes: [],
    parameters: {},
    operation: 'diagnoseService',
    summary: 'Diagnose the service',
    description:
      'Returns the findings of `catalejo doctor`. Takes seconds, more with a large SQLite database.',
    answers: { 200: doctorAnswer },
    async handle() {
      running ??= diagnose().finally(() => (running = undefined))
      return { status: 200, data: await running }
    },
  })

  const started = Math.floor(clock.now() / 1_000)
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/admin/system',
    scopes: [],
    parameters: {},
    operation: 'getSystemState',
    summary: 'Get the state of the service: health, contents, queues and caches',
    answers: { 200: systemAnswer },
    async handle({ identity, reply }) {
      const scanner = database.scannerOf(identity.accountId, clientAbort(reply.raw))
      const [domains, images, isDatabaseReady, areBlobsReady, current] = await Promise.all([
        scanner.first(countDomains()),
        scanner.first(totalStorage()),
        isReady(database.ping()),
        isReady(blobs.ping()),
        figures.now(),
      ])
      return {
        status: 200,
        version,
        started,
        time_zone: timeZone,
        database: engine,
        blobs: blobs.kind,
        ready: { database: isDatabaseReady, blobs: areBlobsReady },
        domains: Number(domains?.count ?? 0),
        images: Number(images?.images ?? 0),
        bytes: Number(images?.bytes ?? 0),
        settings,
        figures: current,
        last_hour: figures.lastHour(),
      }
    },
  })
}

/** Whether a ping succeeds in time. */
const isReady = (ping: Promise<void>): Promise<boolean> =>
  withTimeout(ping, PING_TIMEOUT_MS).catch(() => false)

/** @throws HttpError 400 */
function readCursor(given: string): AuditPlace {
  const [, at, id] = /^(\d{1,15})\.(\d{9,}-[\w-]{8})$/.exec(given) ?? []
  if (at === undefined || id === undefined) throw invalidCursor()
  return { at: Number(at), id }
}
