import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccounts } from '../../src/accounts/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import type { Service } from '../../src/http/auth/key-limits.ts'
import { startBalancer } from './balancer.ts'
import { startCeph, type Ceph } from './ceph.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { freePort } from './free-port.ts'
import { startNode, type NodeProcess } from './node-process.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

/** For writes that outlive a crash of the server, as any production has it. The tests' default is quicker. */
const DURABLE = ['synchronous_commit=on', 'full_page_writes=on']

/** One node's place: its address stays while processes come and go. */
export interface Seat {
  readonly port: number
  readonly url: string
  /** Undefined while it is down. */
  readonly node: NodeProcess | undefined
  start(): Promise<void>
  /** `kill -9`. */
  kill(): Promise<void>
}

/** Two nodes behind a balancer over one PostgreSQL and one S3 gateway, all of them real and ours to break. */
export interface TwoNodes {
  readonly url: string
  readonly seats: readonly Seat[]
  readonly postgres: TestPostgres
  readonly ceph: Ceph
  /** The way from the nodes to the gateway. */
  readonly store: FaultProxy
  /** Starts one more node, behind no balancer. */
  another(data: string): Promise<NodeProcess>
  newKey(account: string, service: Service): Promise<string>
  [Symbol.asyncDispose](): Promise<void>
}

export async function startTwoNodes(): Promise<TwoNodes> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-nodes-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const postgres = stack.use(await startPostgres(process.env['TEST_POSTGRES_BIN'], DURABLE))
  const ceph = stack.use(await startCeph())
  const store = stack.use(await startFaultProxy(ceph.endpoint))

  const startAt = (port: number, data: string) =>
    startNode({
      flags: {
        port: String(port),
        data,
        'database-url': postgres.url,
        'blobs-url': `s3://${ceph.bucket}/soak?endpoint=${store.url}`,
        'image-workers': '1',
        'trusted-proxies': '127.0.0.1',
      },
      environment: { AWS_ACCESS_KEY_ID: ceph.accessKeyId, AWS_SECRET_ACCESS_KEY: ceph.secretAccessKey },
    })

  async function seatAt(index: number): Promise<Seat & AsyncDisposable> {
    const port = await freePort()
    let node: NodeProcess | undefined
    return {
      port,
      url: `http://127.0.0.1:${port}`,
      get node() {
        return node
      },
      async start() {
        node = await startAt(port, join(folder, `node${index}`))
      },
      async kill() {
        const killed = node
        node = undefined
        await killed?.kill()
      },
      async [Symbol.asyncDispose]() {
        await node?.kill()
      },
    }
  }
  const seats = [stack.use(await seatAt(0)), stack.use(await seatAt(1))] as const

  async function newKey(account: string, service: Service): Promise<string> {
    await using database = await openPostgres(postgres.url)
    const outcome = await createAccounts(database, systemClock).createKey(account, service)
    if (outcome.kind !== 'created') throw new Error(`no key: ${outcome.kind}`)
    return outcome.key
  }
  await newKey('nobody', 'domainwatch')
  await Promise.all(seats.map((seat) => seat.start()))
  const balancer = stack.use(await startBalancer([seats[0].port, seats[1].port]))
  const parts = stack.move()
  return {
    url: balancer.url,
    seats,
    postgres,
    ceph,
    store,
    another: (data) => startAt(0, data),
    newKey,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
