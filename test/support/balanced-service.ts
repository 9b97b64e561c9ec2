import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createAccounts } from '../../src/accounts/index.ts'
import type { KeyLimits, Service } from '../../src/http/auth/key-limits.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { startBalancer } from './balancer.ts'
import { databaseFor, runOn } from './engine.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { startNode, type NodeProcess } from './node-process.ts'
import { runStatement } from './postgres.ts'
import { testBlobsUrl } from './s3.ts'
import { ManualClock, type TestService, type TestServiceOptions } from './test-service.ts'

const CLOCK = fileURLToPath(new URL('./clock-from-file.ts', import.meta.url))

const LOG_LIMIT_MS = 30_000

/** All that a node has logged of what was answered until now: its lines come a moment after its answers. */
async function getLog(node: NodeProcess): Promise<string> {
  // Nobody else asks for this; and its line is behind all of them.
  const mark = /"method":"HEAD","route":"[^"]*\/openapi\.json"/g
  const marks = () => node.log().match(mark)?.length ?? 0
  const before = marks()
  // A connection that stays open would be waited for when it stops.
  const headers = { connection: 'close' }
  await fetch(`http://127.0.0.1:${node.port}/openapi.json`, { method: 'HEAD', headers })
  const deadline = Date.now() + LOG_LIMIT_MS
  while (marks() === before) {
    if (Date.now() > deadline) throw new Error('the node logs nothing')
    await pause(5)
  }
  return node.log()
}

/** Waits until each connection that follows commits (`commit-watch.ts`) has polled: nodes have seen what was committed before. */
async function untilPolled(url: string, nodes: number): Promise<void> {
  const [now] = await runStatement(url, 'SELECT clock_timestamp()::text AS time')
  const watches = `
    SELECT query LIKE '%snapshot::text AS snapshot%' AND state = 'idle' AND query_start > '${String(now?.['time'])}' AS polled
    FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'catalejo'
      AND (query LIKE '%snapshot::text AS snapshot%' OR query LIKE 'SELECT pg_notify%' OR query LIKE 'LISTEN%')`
  await eventually(async () => {
    const found = await runStatement(url, watches)
    return found.length >= nodes && found.every(({ polled }) => polled === true)
  }, 'each node has polled')
}

/** The service as two nodes behind a balancer, each a process of its own, over PostgreSQL and an S3 store. */
export async function startBalanced(options: TestServiceOptions): Promise<TestService> {
  await using stack = new AsyncDisposableStack()
  const data = options.data ?? (await mkdtemp(join(tmpdir(), 'catalejo-test-')))
  const database = await databaseFor(data)
  const blobsUrl = testBlobsUrl(basename(data))
  if (database.url === '' || blobsUrl === undefined) throw new Error('two nodes need PostgreSQL and S3')
  const own = stack.adopt(await openPostgres(database.url), (opened) => opened.close())
  const accounts = createAccounts(own, options.clock ?? systemClock)
  async function newKey(account: string, service: Service, limits?: KeyLimits) {
    const outcome = await accounts.createKey(account, service, limits)
    if (outcome.kind !== 'created') throw new Error(`no key: ${outcome.kind}`)
    return { key: String(outcome.key), id: outcome.id }
  }
  // Before the nodes start, so that they make none themselves.
  const domainKey = (await newKey('grupo', 'domainwatch')).key
  const imageKey = (await newKey('fotos', 'imagestore')).key

  if (options.limits !== undefined) throw new Error('two nodes have the limits of the service')
  const clockFile = join(data, 'clock')
  const { clock } = options
  if (clock !== undefined) {
    if (!(clock instanceof ManualClock)) throw new Error('two nodes have a clock that a test moves')
    await writeFile(clockFile, String(clock.now()))
    stack.defer(clock.mirrorIn(clockFile))
  }
  const balancerPort = await freePort()
  const url = `http://127.0.0.1:${balancerPort}`
  async function start(index: number): Promise<NodeProcess> {
    const folder = join(data, `node${index}`)
    await mkdir(folder, { recursive: true })
    return startNode({
      flags: {
        port: '0',
        data: folder,
        'database-url': database.url,
        'blobs-url': blobsUrl,
        'base-url': url,
        'log-level': 'debug',
        'image-workers': '1',
        ...options.flags,
      },
      environment: { TEST_CLOCK_FILE: clockFile },
      runtimeFlags: clock === undefined ? [] : ['--import', CLOCK],
    })
  }
  const nodes = await Promise.all([start(0), start(1)])
  stack.defer(async () => void (await Promise.all(nodes.map((node) => node.stop()))))
  // Many tests read what they have just written, which another node may not have seen yet.
  stack.use(await startBalancer([nodes[0].port, nodes[1].port], { port: balancerPort, keepsKeys: true }))
  const parts = stack.move()

  return {
    get app(): never {
      throw new Error('two nodes have no part in this process: skip the test onTwoNodes')
    },
    databaseUrl: database.url,
    caughtUp: () => untilPolled(database.url, nodes.length),
    newestChange: () => database.newestChange(),
    url,
    data,
    domainKey,
    imageKey,
    log: async () => (await Promise.all(nodes.map(getLog))).join('\n'),
    sql: (statement) => runOn(database.url, data, statement),
    loseDatabase: () => database.drop(),
    dump: () => database.dump(),
    newKey,
    revokeKey: async (id) => void (await accounts.revoke(id)),
    stop: () => parts.disposeAsync(),
    async [Symbol.asyncDispose]() {
      await parts.disposeAsync()
      await rm(data, { recursive: true, force: true })
      await database.drop()
    },
  }
}
