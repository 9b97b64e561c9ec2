import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADD, LIST } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call, send } from '../support/http.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

/** Without the health checks of a load balancer. */
async function requestLines(): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = (await service.log())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  return lines.filter(
    ({ msg, route, method }) => msg === 'request completed' && method !== 'HEAD' && route !== '/healthz',
  )
}

test('every request is one JSON line with an id, the route and no address', async () => {
  // Of one process; another may have the same.
  const getId = ({ reqId, pid }: Record<string, unknown>) => `${String(pid)} ${String(reqId)}`
  const before = new Set((await requestLines()).map(getId))
  await call(service, LIST, { query: { api: service.domainKey, search: 'secreto' } })
  await call(service, '/i/secreto')
  await call(service, '/secreto?a=secreto')
  await send(service, ADD, { data: 'secreto' }, { query: { api: service.domainKey } })
  const added = (await requestLines()).filter((line) => !before.has(getId(line)))
  // In no order: they may have reached several processes.
  assert.deepEqual(
    added.map(({ method, route, status, ip }) => [method, route, status, ip].join(' ')).toSorted(),
    [
      `GET ${LIST} 200 127.0.0.1`,
      'GET /i/* 404 127.0.0.1',
      'GET unknown 404 127.0.0.1',
      `POST ${ADD} 500 127.0.0.1`,
    ],
  )
  assert.equal(new Set(added.map(getId)).size, 4)
  for (const { reqId } of added) assert.equal(typeof reqId, 'string')
  for (const { ms, time } of added) assert.deepEqual([typeof ms, typeof time], ['number', 'number'])
  assert.equal((await service.log()).includes('secreto'), false)
})

test('a client that left before its answer is logged with its address', async () => {
  // Behind a balancer it is the balancer that leaves.
  assert.ok(service.app)
  const connection = await RawConnection.open(service)
  const head = `POST ${ADD}?api=${service.domainKey} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n`
  await new Promise<void>((sent) => connection.socket.write(`${head}data`, () => sent()))
  connection.close()
  let left: unknown[] = []
  await eventually(async () => {
    left = (await requestLines()).filter(({ status }) => status === 499).map(({ route, ip }) => [route, ip])
    return left.length > 0
  }, 'a line about the client that left')
  assert.deepEqual(left, [[ADD, '127.0.0.1']])
})

test('requests are measured by route and status', async () => {
  // The key does nothing here but keep a balancer to one process, whose own the measurements are.
  const query = { api: service.domainKey }
  await call(service, '/nada-de-nada', { query })
  await call(service, LIST, { query })
  const { text, headers } = await call(service, '/metrics', { query })
  assert.match(headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(text, /catalejo_http_request_seconds_count{method="GET",route="unknown",status="404"} \d+/)
  assert.match(
    text,
    /catalejo_http_request_seconds_count{method="GET",route="\/api\/v1\/domainwatch\/list",status="200"} \d+/,
  )
  assert.equal(text.includes('nada-de-nada'), false)
})

test('without its database the service is healthy but not ready', async () => {
  await using other = await startService()
  await other.loseDatabase()
  const { body, headers } = await call(other, '/readyz')
  assert.deepEqual(body, { status: 503, msg: 'El servicio no está listo' })
  assert.equal(headers.get('retry-after'), '1')
  assert.deepEqual((await call(other, '/healthz')).body, { status: 200 })
})
