import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { catalejo, serve, type Served } from '../support/cli.ts'
import { noBalancer, startBalancer, type Balancer } from '../support/balancer.ts'
import { ADD, LIST, record } from '../support/domains.ts'
import { newDatabase, POSTGRES_URL } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { call } from '../support/http.ts'

const NODES = ['node1', 'node2'] as const
const BACKENDS = ['nodes_ready', 'nodes_up']
type NodeName = (typeof NODES)[number]
/** Enough for keep-alive connections of several clients to be on both nodes at any moment. */
const CLIENTS = 8

interface Site extends AsyncDisposable {
  readonly balancer: Balancer
  readonly nodes: Record<NodeName, Served>
  readonly key: string
  start(name: NodeName): Promise<void>
}

/** Two nodes of one service behind the balancer; on PostgreSQL where the tests have it. */
async function site(flags: readonly string[] = [], path = ''): Promise<Site> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const common = ['--data', folder.path]
  if (POSTGRES_URL !== undefined) {
    const database = stack.use(await newDatabase())
    common.push('--database-url', database.url)
  }
  const key = await newKey(common)
  const ports = { node1: await freePort(), node2: await freePort() }
  const run = (name: NodeName) =>
    serve([...common, '--port', String(ports[name]), '--trusted-proxies', '127.0.0.1', ...flags])
  const nodes = { node1: await run('node1'), node2: await run('node2') }
  stack.defer(async () => {
    for (const name of NODES) await nodes[name][Symbol.asyncDispose]()
  })
  const balancer = stack.use(await startBalancer([ports.node1, ports.node2], { path }))
  for (const name of NODES) await balancer.until(`nodes_ready/${name}`, ({ status }) => status === 'UP')
  return {
    balancer,
    nodes,
    key,
    start: async (name) => void (nodes[name] = await run(name)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function newKey(common: readonly string[]): Promise<string> {
  const creation = ['key', 'create', '--account', 'grupo', '--service', 'domainwatch']
  const { stdout, stderr } = await catalejo(creation.concat(common))
  assert.match(stdout, /^\S{32}\n$/, stderr)
  return stdout.trim()
}

interface Traffic {
  /** Resolves when this many more requests were answered. */
  more(count: number): Promise<void>
  /** Stops it. @returns what went wrong */
  end(): Promise<readonly string[]>
}

/** Clients on keep-alive connections that send one request after the other. */
function traffic({ balancer, key }: Site, requests: readonly ((n: number) => Sent)[]): Traffic {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const failures: string[] = []
  let answered = 0
  let isOver = false
  let notify = () => {}
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let n = client; !isOver; n++) {
      const sent = requests[n % requests.length]?.(n * CLIENTS + client)
      assert.ok(sent !== undefined)
      const outcome = await ask(agent, `${balancer.url}${sent.path}api=${key}`, sent.body).catch(String)
      if (outcome !== 200) failures.push(`${sent.body === undefined ? 'GET' : 'POST'} ${outcome}`)
      answered++
      notify()
    }
  })
  return {
    async more(count) {
      const goal = answered + count
      while (answered < goal) await new Promise<void>((resolve) => (notify = resolve))
    },
    async end() {
      isOver = true
      await Promise.all(clients)
      agent.destroy()
      return failures
    },
  }
}

interface Sent {
  /** Ends where the key is put. */
  readonly path: string
  readonly body?: string
}

const read = (): Sent => ({ path: `${LIST}?last_register=5&` })
const write = (n: number): Sent => ({
  path: `${ADD}?`,
  body: new URLSearchParams({ data: JSON.stringify([record(`dominio-${n}`)]) }).toString(),
})

async function ask(agent: Agent, url: string, body: string | undefined): Promise<number | undefined> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const outgoing = request(url, { agent, ...(body === undefined ? {} : { method: 'POST', headers }) })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  for await (const _ of response);
  return response.statusCode
}

test('behind the balancer', { skip: noBalancer }, async (t) => {
  await using two = await site(['--failed-keys', '3', '--stop-delay', '2'])
  const { balancer, nodes } = two
  const isUp = (name: NodeName) => balancer.until(`nodes_ready/${name}`, ({ status }) => status === 'UP')
  const setState = async (name: NodeName, state: 'drain' | 'ready') => {
    for (const backend of BACKENDS) await balancer.tell(`set server ${backend}/${name} state ${state}`)
  }

  await t.test('wrong keys are counted by client address, whatever headers claim', async () => {
    const statuses: (number | undefined)[] = []
    for (let n = 0; n < 12; n++) statuses.push(await wrongKey(balancer, '127.0.0.1', `200.1.1.${n}`))
    assert.equal(statuses.at(0), 401)
    assert.equal(statuses.at(-1), 429)
    assert.equal(await wrongKey(balancer, '127.0.0.2', '200.1.1.0'), 401)
  })

  await t.test('a rolling restart, each node drained first: no request fails', async () => {
    const load = traffic(two, [read, write])
    for (const name of NODES) {
      await load.more(100)
      await setState(name, 'drain')
      await balancer.until(`nodes_ready/${name}`, ({ sessions }) => sessions === 0)
      assert.equal((await nodes[name].stop()).code, 0)
      await load.more(100)
      await two.start(name)
      await setState(name, 'ready')
      await isUp(name)
    }
    await load.more(100)
    assert.deepEqual(await load.end(), [])
  })

  await t.test('a rolling restart without draining: no request fails, and no write', async () => {
    const load = traffic(two, [read, write])
    for (const name of NODES) {
      await load.more(100)
      assert.equal((await nodes[name].stop()).code, 0)
      await load.more(100)
      await two.start(name)
      await isUp(name)
    }
    await load.more(100)
    assert.deepEqual(await load.end(), [])
  })

  await t.test('a node is stopped abruptly, then the other killed: no read fails', async () => {
    const load = traffic(two, [read])
    await load.more(100)
    await nodes.node1.stop()
    await load.more(200)
    await two.start('node1')
    await isUp('node1')
    await load.more(100)
    nodes.node2.child.kill('SIGKILL')
    await load.more(200)
    assert.deepEqual(await load.end(), [])
  })

  await t.test('metrics are not public; without any node the response is still JSON', async () => {
    assert.equal((await call(balancer, '/metrics')).status, 404)
    for (const name of NODES) await nodes[name].stop()
    const none = await fetch(`${balancer.url}${ADD}?api=${two.key}`, { method: 'POST', body: 'data=[]' })
    assert.equal(none.status, 503)
    assert.equal(none.headers.get('retry-after'), '1')
    const body = { status: 503, msg: 'El servicio no está disponible', code: 'unavailable' }
    assert.deepEqual(await none.json(), body)
  })
})

/** What a wrong key is answered when it comes from this address and says that it comes from another. */
async function wrongKey(balancer: Balancer, localAddress: string, claimed: string) {
  const outgoing = request(`${balancer.url}${LIST}?api=wrong`, {
    localAddress,
    headers: { 'x-forwarded-for': claimed },
  })
  outgoing.end()
  const [response] = await once(outgoing, 'response')
  response.resume()
  return response.statusCode
}

test('nodes with a path in their base URL are up', { skip: noBalancer }, async () => {
  await using two = await site(['--base-url', 'https://example.cl/catalejo'], '/catalejo')
  const { status } = await call(two.balancer, `/catalejo${LIST}`, { query: { api: two.key } })
  assert.equal(status, 200)
})
