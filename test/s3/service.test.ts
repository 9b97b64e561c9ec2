/** What clients of the service see of an object store's troubles. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Flags } from '../../src/server/config/config.ts'
import { S3_DEFAULTS } from '../../src/storage/blobs/s3/requests.ts'
import { eventually } from '../support/eventually.ts'
import { bytesOf, expectedHash, gradient, ImageClient, noise, plain, stamped } from '../support/images.ts'
import { startService } from '../support/service.ts'
import { ScriptedGateway } from './scripted-gateway.ts'

const OVERLOAD = { status: 503, body: { status: 503, msg: 'El servicio está saturado, inténtelo de nuevo' } }

async function open(flags: Flags = {}) {
  const gateway = await ScriptedGateway.start()
  const service = await startService({
    flags: { 'blobs-url': `s3://bucket/images?endpoint=${gateway.endpoint}`, ...flags },
  })
  return {
    gateway,
    service,
    client: new ImageClient(service.url, service.imageKey),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

suite('the service with a failing object store', { timeout: 300_000, concurrency: 2 }, () => {
  before(() => {
    process.env['AWS_ACCESS_KEY_ID'] = 'id'
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret'
  })

  test('uploads and links are a 503 with Retry-After while it fails, and recover with it', async () => {
    await using bench = await open()
    const { gateway, client } = bench
    const [kept, other] = [await gradient(20, 10).png().toBuffer(), await gradient(10, 20).png().toBuffer()]
    const hash = String((await client.upload(kept)).body['hash'])

    gateway.always = { kind: 'status', status: 503 }
    const refused = await client.upload(other)
    assert.deepEqual(plain(refused), OVERLOAD)
    assert.equal(refused.headers.get('retry-after'), '1')
    for (const path of [hash, `${hash}&m=w_10`]) {
      const link = await client.link(path)
      assert.equal(link.status, 503)
      assert.equal(link.headers.get('retry-after'), '1')
      assert.ok(!(link.headers.get('cache-control') ?? '').includes('immutable'))
      assert.equal(link.headers.get('etag'), null)
    }
    assert.match(await bench.service.log(), /"operation":"put".*status 503/)

    gateway.always = undefined
    assert.equal((await client.upload(other)).status, 200)
    assert.ok((await bytesOf(await client.link(hash))).equals(kept))
    assert.equal((await client.link(`${hash}&m=w_10`)).status, 200)
  })

  test('a large original that is truncated is truncated for the client too', async () => {
    await using bench = await open()
    const large = await noise(700, 700).png().toBuffer()
    assert.ok(large.length > 1_200_000)
    const hash = String((await bench.client.upload(large)).body['hash'])
    bench.gateway.script = [{ kind: 'cut', bytes: 700_000 }]
    await assert.rejects(async () => bytesOf(await bench.client.link(hash)))
    assert.ok((await bytesOf(await bench.client.link(hash))).equals(large))
  })

  test('truncated reads of small originals and transformations are a 503', async () => {
    await using bench = await open()
    const { gateway, client } = bench
    const bytes = await noise(300, 300).png().toBuffer()
    assert.equal((await client.upload(bytes)).status, 200)
    for (const path of [expectedHash(bytes), `${expectedHash(bytes)}&m=w_10`]) {
      gateway.script = [{ kind: 'cut', bytes: 50_000 }]
      const link = await client.link(path)
      assert.equal(link.status, 503)
      assert.equal(link.headers.get('retry-after'), '1')
      await link.arrayBuffer()
      assert.equal((await client.link(path)).status, 200)
    }
  })

  test('a visitor whose originals hang delays no other one, nor who asks for what it waits for', async () => {
    // Two derivatives of one visitor are rendered at a time.
    await using bench = await open({ 'trusted-proxies': '127.0.0.1', 'image-workers': '1' })
    const { gateway, client } = bench
    const png = await gradient(20, 10).png().toBuffer()
    const pictures = ['uno', 'dos', 'tres', 'cuatro'].map((name) => stamped(png, name))
    for (const bytes of pictures) assert.equal((await client.upload(bytes)).status, 200)
    const hashes = pictures.map(expectedHash)
    const [shared = '', unwanted = ''] = hashes.splice(2)
    const copies = (hash: string) =>
      gateway.requests.filter((line) => line.startsWith(`GET /bucket/images/${hash}.`)).length
    const ask = async (visitor: number, path: string, signal?: AbortSignal) => {
      const headers = { 'x-forwarded-for': `203.0.113.${visitor}` }
      return (await client.link(path, { headers, signal: signal ?? null })).status
    }

    gateway.always = { kind: 'drip' }
    gateway.where = new RegExp(hashes.join('|'))
    let ended = 0
    const hanging = hashes.map((hash) => ask(1, `${hash}&m=w_9`).finally(() => ended++))
    await eventually(() => hashes.every((hash) => copies(hash) > 0), 'two originals hang')
    const waiting = ask(1, `${shared}&m=w_9`)
    const leave = new AbortController()
    const left = ask(1, `${unwanted}&m=w_9`, leave.signal).catch(() => undefined)
    leave.abort()
    await left
    assert.equal(copies(shared), 0)
    assert.equal(await ask(2, `${shared}&m=w_9`), 200)
    assert.equal(await waiting, 200)
    assert.deepEqual([copies(shared), copies(unwanted), ended], [1, 0, 0])

    gateway.always = undefined
    for (const status of await Promise.all(hanging)) assert.equal(status, 200)
    assert.equal(copies(unwanted), 0)
  })

  test('a deletion is answered immediately while it hangs', async () => {
    await using bench = await open()
    const { gateway, client } = bench
    const png = await gradient(20, 10).png().toBuffer()
    const pictures = ['a', 'b', 'c'].map((text) => stamped(png, text))
    for (const bytes of pictures) await client.upload(bytes)
    gateway.always = { kind: 'hang' }
    const attempts = () => gateway.requests.filter((line) => line.startsWith('DELETE')).length
    const before: number[] = []
    for (const bytes of pictures) {
      assert.equal((await client.remove(expectedHash(bytes))).status, 200)
      before.push(attempts())
      assert.equal((await client.link(expectedHash(bytes))).status, 404)
    }
    // An answer that waited for the store would come after the last attempt.
    assert.ok(Math.min(...before) <= 1, before.join())
    gateway.always = undefined
  })

  test('requests, retries and failures are counted by operation', async () => {
    await using bench = await open()
    const { gateway, client } = bench
    const bytes = await gradient(20, 10).png().toBuffer()
    await client.upload(bytes)
    const count = async (name: string) => {
      const text = await (await fetch(`${bench.service.url}/metrics`)).text()
      return Number(
        new RegExp(`^catalejo_s3_${name}_total\\{operation="put"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
      )
    }
    const counts = async () => [await count('attempts'), await count('retries'), await count('faults')]
    assert.deepEqual(await counts(), [1, 0, 0])
    gateway.always = { kind: 'status', status: 503 }
    await client.upload(await gradient(10, 20).png().toBuffer())
    assert.deepEqual(await counts(), [4, 2, 1])
  })

  test('a start with a store that is elsewhere logs the reason and is not ready', async () => {
    await using gateway = await ScriptedGateway.start()
    gateway.always = { kind: 'status', status: 301, code: 'PermanentRedirect' }
    await using service = await startService({
      flags: { 'blobs-url': `s3://bucket/images?endpoint=${gateway.endpoint}` },
    })
    assert.equal((await fetch(`${service.url}/readyz`)).status, 503)
    const hint = 'the bucket is in another region, or at another endpoint'
    const reason = `"operation":"ping","reason":"S3 ping: PermanentRedirect, status 301: ${hint}"`
    assert.ok((await service.log()).includes(reason), await service.log())
  })

  test('reads of originals end when the visitor who requested them has left', async () => {
    await using bench = await open()
    const { gateway, client } = bench
    const png = await gradient(20, 10).png().toBuffer()
    const places = S3_DEFAULTS.requestsPerClient
    const small = Array.from({ length: places - 1 }, (_, i) => stamped(png, String(i)))
    const large = await noise(700, 700).png().toBuffer()
    for (const bytes of [png, ...small, large]) assert.equal((await client.upload(bytes)).status, 200)
    gateway.always = { kind: 'drip' }
    gateway.where = new RegExp([...small, large].map(expectedHash).join('|'))
    const leave = new AbortController()
    const headers = { range: 'bytes=0-9' }
    const paths = [...small.map(expectedHash), expectedHash(large), `${expectedHash(large)}&m=w_9`]
    const left = paths.map((path) => client.link(path, { headers, signal: leave.signal }))
    await eventually(() => gateway.openResponses === places + 1, 'all places of a visitor are taken')
    leave.abort()
    for (const { status } of await Promise.allSettled(left)) assert.equal(status, 'rejected')
    assert.equal((await client.link(expectedHash(png))).status, 200)
    await eventually(() => gateway.openResponses === 0, 'the requests to the store ended')
    const metrics = await (await fetch(`${bench.service.url}/metrics`)).text()
    assert.doesNotMatch(metrics, /^catalejo_s3_faults_total\{/m)
  })
})
