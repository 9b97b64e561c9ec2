import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { startApp, type App } from '../../src/app.ts'
import { readConfig, type Flags } from '../../src/config/config.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { Service } from '../../src/http/authentication.ts'
import { testBlobsUrl } from './s3.ts'
import { databaseFor } from './engine.ts'

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number

  constructor(start: string) {
    this.#now = Date.parse(start)
  }

  now(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
  }
}

export interface TestService {
  readonly app: App
  /** Where it listens, without a slash at the end. */
  readonly url: string
  readonly data: string
  /** A key of the account `grupo` (domainwatch). */
  readonly domainKey: string
  /** A key of the account `fotos` (imagestore). */
  readonly imageKey: string
  /** Everything that was logged so far. */
  log(): string
  /** All that its database holds, where that is not in the data folder. */
  dump(): Promise<Buffer>
  newKey(account: string, service: Service): Promise<{ key: string; id: string }>
  /** Stops it; the data folder stays. */
  stop(): Promise<void>
  /** Stops it and removes its data. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface TestServiceOptions {
  readonly flags?: Flags
  readonly clock?: Clock
  /** An existing data folder, to start on what another run left. */
  readonly data?: string
}

/** The whole service on a free port and an empty data folder, as `catalejo serve` starts it. */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const data = options.data ?? (await mkdtemp(join(tmpdir(), 'catalejo-test-')))
  const database = await databaseFor(data)
  // The same tests serve for an object store: each data folder has a part of it for itself.
  const blobsUrl = testBlobsUrl(basename(data))
  const flags = {
    port: '0',
    data,
    'log-level': 'debug',
    'database-url': database.url,
    'blobs-url': blobsUrl,
    ...options.flags,
  }
  const result = readConfig(flags, {})
  if (!result.ok) throw new Error(result.faults.join('\n'))
  let logged = ''
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk)
      done()
    },
  })
  const log = pino({ level: result.config.logLevel }, sink)
  const app = await startApp(result.config, {
    log,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })

  async function newKey(account: string, service: Service) {
    const outcome = await app.context.accounts.createKey(account, service)
    if (outcome.kind !== 'created') throw new Error(`no key: ${outcome.kind}`)
    return { key: String(outcome.key), id: outcome.id }
  }

  let stopped = false
  async function stop() {
    if (!stopped) await app.close()
    stopped = true
  }

  return {
    app,
    url: app.baseUrl,
    data,
    domainKey: (await newKey('grupo', 'domainwatch')).key,
    imageKey: (await newKey('fotos', 'imagestore')).key,
    log: () => logged,
    dump: () => database.dump(),
    newKey,
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      await rm(data, { recursive: true, force: true })
      await database.drop()
    },
  }
}
