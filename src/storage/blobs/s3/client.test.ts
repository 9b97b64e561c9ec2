import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, before, suite, test } from 'node:test'
import { Staging } from '../staging.ts'
import { openClient, presign } from './client.ts'
import { parseS3Location } from './location.ts'
import { openS3Blobs } from './store.ts'

suite('presigned URLs', () => {
  const location = {
    bucket: 'fotos',
    prefix: '',
    endpoint: undefined,
    publicEndpoint: undefined,
    redirectBytes: Infinity,
    region: 'sa-east-1',
    pathStyle: false,
  }
  const client = openClient(location, { maxSockets: 1, maxAttempts: 1 })
  const address = { Bucket: 'fotos', Key: 'a' }
  const start = Date.parse('2026-03-04T05:10:00Z')
  const at = async (ms: number) => presign(client, address, 'image/png', start + ms)

  before(() => {
    process.env['AWS_ACCESS_KEY_ID'] = 'id'
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret'
  })
  after(() => client.destroy())

  test('repeat within a window, so that caches recognise them, and then change', async () => {
    const { url } = await at(0)
    assert.equal((await at(299_999)).url, url)
    assert.notEqual((await at(300_000)).url, url)
  })

  test('are never cacheable for longer than they are valid', async () => {
    for (const ms of [0, 1, 150_000, 299_999]) {
      const { url, seconds } = await at(ms)
      assert.ok(seconds >= 1)
      const parameters = new URL(url).searchParams
      assert.equal(parameters.get('X-Amz-Date'), '20260304T051000Z')
      const end = start + Number(parameters.get('X-Amz-Expires')) * 1_000
      assert.ok(start + ms + seconds * 1_000 < end)
    }
  })

  test('use the public endpoint if there is one', async () => {
    const inside = parseS3Location(
      's3://fotos?endpoint=http://10.0.0.1:7480&public_endpoint=https://fotos.example.cl',
    )
    assert.ok(inside !== undefined)
    const { store, close } = openS3Blobs(inside, await Staging.open(tmpdir(), { flush: false }), () => {})
    const { url = '' } = (await store.locate?.('a', 'image/png')) ?? {}
    close()
    assert.match(url, /^https:\/\/fotos\.example\.cl\/fotos\/a\?/)
    assert.equal(new URL(url).searchParams.get('X-Amz-SignedHeaders'), 'host')
  })

  test('fix the headers of the answer', async () => {
    const { searchParams } = new URL((await at(0)).url)
    assert.equal(searchParams.get('response-content-type'), 'image/png')
    assert.equal(searchParams.get('response-content-disposition'), 'inline')
    assert.equal(searchParams.get('response-cache-control'), 'public, max-age=31536000, immutable')
  })
})
