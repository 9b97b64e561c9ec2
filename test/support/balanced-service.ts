import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAccounts } from '../../src/accounts/index.ts'
import { systemClock } from '../../src/core/clock.ts'
import { openPostgres } from '../../src/database/postgres/open.ts'
import { databaseFor } from './engine.ts'
import { startHaproxy } from './haproxy.ts'
import { startNode } from './node-process.ts'
import { freePort } from './postgres.ts'
import { testBlobsUrl } from './s3.ts'
import { ManualClock, type TestService, type TestServiceOptions } from './test-service.ts'

const CLOCK = fileURLToPath(new URL('./clock-from-file.ts', import.meta.url))

/** What a test throws that reaches into the process of the service, where the service is several others. */
class InProcessOnly extends Error {
  constructor(what: string) {
    super(`${what} needs the service in the test's own process`)
  }
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
  async function newKey(account: string, service: 'domainwatch' | 'imagestore') {
    const outcome = await accounts.createKey(account, service)
    if (outcome.kind !== 'created') throw new Error(`no key: ${outcome.kind}`)
    return { key: String(outcome.key), id: outcome.id }
  }
  // Before the nodes start, so that they make none themselves.
  const domainKey = (await newKey('grupo', 'domainwatch')).key
  const imageKey = (await newKey('fotos', 'imagestore')).key

  const clockFile = join(data, 'clock')
  const { clock } = options
  if (clock !== undefined) {
    if (!(clock instanceof ManualClock)) throw new InProcessOnly('a clock of its own kind')
    await writeFile(clockFile, String(clock.now()))
    clock.mirrorIn(clockFile)
  }
  const balancerPort = await freePort()
  const url = `http://127.0.0.1:${balancerPort}`
  const nodes = await Promise.all(
    [0, 1].map(async (index) => {
      const folder = join(data, `node${index}`)
      await mkdir(folder, { recursive: true })
      return startNode({
        flags: {
          port: '0',
          data: folder,
          'database-url': database.url,
          'blobs-url': blobsUrl,
          'base-url': url,
          'image-workers': '1',
          ...options.flags,
        },
        environment: { TEST_CLOCK_FILE: clockFile },
        runtimeFlags: clock === undefined ? [] : ['--import', CLOCK],
      })
    }),
  )
  stack.defer(async () => void (await Promise.all(nodes.map((node) => node.stop()))))
  const addresses = nodes.map((node) => `http://127.0.0.1:${node.port}`)
  // Many tests read at once what they have just written, which another node may not have noticed yet.
  stack.use(await startHaproxy(addresses, { port: balancerPort, deal: 'by key' }))
  const parts = stack.move()

  return {
    get app(): never {
      throw new InProcessOnly('the application object')
    },
    url,
    data,
    domainKey,
    imageKey,
    log: () => {
      throw new InProcessOnly('the log')
    },
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
