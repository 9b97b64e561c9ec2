import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { catalejo, firstKeys, serve, takenBy, type Served } from '../support/cli.ts'
import { ADD, LIST, record } from '../support/domains.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call, send } from '../support/http.ts'
import { gradient, ImageClient, stamped } from '../support/images.ts'
import { RawConnection } from '../support/raw.ts'
import { eventually } from '../support/eventually.ts'

/** Three times the ten seconds that the steps of a shutdown take at most, as in `serve.test.ts`. */
const STOP_MS = 30_000
const WORKERS = ['--workers', '2']

/** Log lines so far; whatever is not one is left out. */
function lines({ stdout }: Pick<Served, 'stdout'>): Record<string, unknown>[] {
  const whole = stdout().slice(0, stdout().lastIndexOf('\n') + 1)
  return whole.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
}

/** Numbers of the workers that have logged this, each with its process. */
function workersThat(service: Served, msg: string): Map<number, number> {
  const said = lines(service).filter((line) => line['msg'] === msg)
  return new Map(said.map(({ worker, pid }) => [Number(worker), Number(pid)]))
}

async function startCrew(data: string): Promise<Served> {
  const service = await serve(['--data', data, ...WORKERS])
  await eventually(() => workersThat(service, 'listening').size === 2, 'the second worker listens')
  return service
}

suite('two workers', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let service: Served

  before(async () => {
    folder = await temporaryFolder()
    service = await startCrew(folder.path)
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  test('listen on one address and create the first keys once', async () => {
    assert.equal(service.stdout().match(/Catalejo escucha/g)?.length, 1)
    assert.equal(new Set(lines(service).flatMap(({ address }) => address ?? [])).size, 1)
    const connections = await Promise.all(Array.from({ length: 6 }, () => RawConnection.open(service)))
    const api = (await firstKeys(service)).domainwatch
    for (const connection of connections) {
      connection.send(`GET ${LIST}?api=${api} HTTP/1.1\r\nhost: x\r\n\r\n`)
      assert.equal((await connection.reply())?.status, 200)
      connection.close()
    }
    await eventually(
      () => workersThat(service, 'request completed').size === 2,
      'both workers have something to do',
    )
  })

  test('report their metrics together', async () => {
    const count = async () => {
      const { text } = await call(service, '/metrics', { headers: { connection: 'close' } })
      const pattern =
        /^catalejo_http_request_seconds_count\{method="GET",route="\/healthz",status="200"\} (\d+)$/m
      return Number(pattern.exec(text)?.[1] ?? 0)
    }
    const first = await count()
    for (let i = 0; i < 10; i++) await call(service, '/healthz', { headers: { connection: 'close' } })
    await eventually(async () => (await count()) === first + 10, 'all requests are counted')
    assert.deepEqual([await count(), await count()], [first + 10, first + 10])
  })

  test('handle concurrent large batches and small uploads without failures', async () => {
    const api = (await firstKeys(service)).domainwatch
    const fotos = new ImageClient(service.url, (await firstKeys(service)).imagestore)
    const png = await gradient(20, 10).png().toBuffer()
    const statuses: number[] = []
    let loading = true
    const batch = async (name: string) => {
      const data = Array.from({ length: 50_000 }, (_, i) => record(`${name}-${i}`))
      const { status } = await send({ url: service.url }, ADD, { data }, { encoding: 'json', query: { api } })
      statuses.push(status)
    }
    const upload = async (name: string) => {
      for (let i = 0; loading; i++) statuses.push((await fotos.upload(stamped(png, `${name} ${i}`))).status)
    }
    const uploads = [upload('uno'), upload('dos')]
    await Promise.all(['a', 'b', 'c'].map(batch)).finally(() => (loading = false))
    await Promise.all(uploads)
    assert.deepEqual([...new Set(statuses)], [200])
  })
})

test('a worker that exits is replaced while the others serve', async () => {
  await using folder = await temporaryFolder()
  await using service = await startCrew(folder.path)
  const [victim] = workersThat(service, 'listening').values()
  assert.ok(victim !== undefined)
  process.kill(victim, 'SIGKILL')
  await eventually(() => lines(service).some(({ msg }) => msg === 'worker exited'), 'it is noticed')
  assert.equal((await call(service, '/readyz')).status, 200)
  await eventually(() => workersThat(service, 'listening').size === 3, 'it is replaced')
  const flying = await RawConnection.open(service)
  const head = `POST ${ADD}?api=${(await firstKeys(service)).domainwatch} HTTP/1.1\r\nhost: x\r\n`
  flying.send(`${head}content-type: application/x-www-form-urlencoded\r\ncontent-length: 7\r\n\r\ndata`)
  await call(service, '/healthz')
  const stopped = service.stop()
  await eventually(
    () => workersThat(service, 'stopping').size === 2,
    'both workers receive the signal to stop',
  )
  flying.send('=[]')
  assert.equal((await flying.reply())?.body, '{"status":200,"count":0}')
  const { code, ms } = await stopped
  assert.deepEqual([code, service.stderr()], [0, ''])
  assert.ok(ms < STOP_MS)
})

test('all workers are replaced without losing data', async () => {
  await using folder = await temporaryFolder()
  await using service = await startCrew(folder.path)
  const api = (await firstKeys(service)).domainwatch
  const sent = { data: [record('queda')] }
  assert.equal((await send(service, ADD, sent, { encoding: 'json', query: { api } })).status, 200)
  for (const pid of workersThat(service, 'listening').values()) process.kill(pid, 'SIGKILL')
  await eventually(() => workersThat(service, 'listening').size === 4, 'both are replaced')
  // Nobody held the port meanwhile, so port 0 is another one.
  const url = String(lines(service).findLast(({ msg }) => msg === 'listening')?.['address'])
  const { text } = await call({ url }, LIST, { query: { api } })
  assert.match(text, /"count":1,.*"name":"queda"/)
  const { code } = await service.stop()
  assert.deepEqual([code, service.stderr()], [0, ''])
})

test('a first worker that cannot start ends the service with one line that explains why', async () => {
  await using folder = await temporaryFolder()
  const taken = await serve(['--data', folder.path])
  const { port } = new URL(taken.url)
  const { code, stderr } = await catalejo(['serve', '--data', folder.path, '--port', port, ...WORKERS])
  await taken[Symbol.asyncDispose]()
  assert.equal(code, 1)
  assert.equal(stderr, `catalejo: could not start: ${takenBy(taken.url)}\n`)
})
