import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { startApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import type { KeyLimits, Service } from '../../src/http/auth/key-limits.ts'
import { startBalanced } from './balanced-service.ts'
import { databaseFor, runOn } from './engine.ts'
import { reportLog } from './failure-report.ts'
import { testBlobsUrl } from './s3.ts'
import { ManualClock, type TestService, type TestServiceOptions } from './test-service.ts'

export { ManualClock }
export type { TestService, TestServiceOptions }

/** Why tests are skipped that look into the service or change its limits; false where it is in their own process. */
export const onTwoNodes =
  process.env['TEST_NODES'] === '2' && 'the service is two other processes here: npm test runs this'

/**
 * The whole service on a free port and an empty data folder, as `catalejo serve` starts it; as two nodes behind a balancer
 * where TEST_NODES asks for that.
 */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  if (onTwoNodes !== false) return startBalanced(options)
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
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  })

  async function newKey(account: string, service: Service, limits?: KeyLimits) {
    const outcome = await app.context.accounts.createKey(account, service, limits)
    if (outcome.kind !== 'created') throw new Error(`no key: ${outcome.kind}`)
    return { key: String(outcome.key), id: outcome.id }
  }

  reportLog(app.baseUrl, () => logged)

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
    databaseUrl: database.url,
    caughtUp: async () => {},
    newestChange: () => database.newestChange(),
    log: async () => logged,
    sql: (statement) => runOn(flags['database-url'], data, statement),
    loseDatabase: () => app.context.database.close(),
    dump: () => database.dump(),
    newKey,
    revokeKey: async (id) => void (await app.context.accounts.revoke(id)),
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      await rm(data, { recursive: true, force: true })
      await database.drop()
    },
  }
}
