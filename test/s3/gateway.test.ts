/** What only a real gateway can show: signatures, presigned addresses, durability. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'
import { openS3Blobs } from '../../src/storage/blobs/s3/store.ts'
import { Staging } from '../../src/storage/blobs/staging.ts'
import { getSweeps } from '../durability/sweeps.ts'
import { temporaryFolder } from '../support/folder.ts'
import { bytesOf, gradient, ImageClient, noise } from '../support/images.ts'
import { noS3, testBlobsUrl, testLocation } from '../support/s3.ts'
import { startService } from '../support/service.ts'

suite('a real S3 gateway', { skip: noS3, timeout: 300_000 }, () => {
  test('serves large originals itself if configured, with safe headers', async () => {
    const place = testBlobsUrl(`redirect-${randomBytes(6).toString('hex')}`)
    await using service = await startService({ flags: { 'blobs-url': `${place}&redirect=100000B` } })
    const client = new ImageClient(service.url, service.imageKey)
    const large = await noise(300, 300).png().toBuffer()
    const small = await gradient(20, 10).png().toBuffer()
    const svg = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!--${'x'.repeat(150_000)}--></svg>`,
    )
    assert.ok(large.length > 100_000)
    const [hash = '', smallHash = '', svgHash = ''] = await Promise.all(
      [large, small, svg].map(async (bytes) => String((await client.upload(bytes)).body['hash'])),
    )

    const redirect = await client.link(hash, { redirect: 'manual' })
    assert.equal(redirect.status, 302)
    assert.equal(redirect.headers.get('x-content-type-options'), 'nosniff')
    assert.match(redirect.headers.get('content-security-policy') ?? '', /sandbox/)
    assert.match(redirect.headers.get('cache-control') ?? '', /^public, max-age=([12]?\d?\d|300)$/)
    const followed = await client.link(hash)
    assert.ok((await bytesOf(followed)).equals(large))
    assert.equal(followed.headers.get('content-type'), 'image/png')
    assert.equal(followed.headers.get('content-disposition'), 'inline')
    assert.equal(followed.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    const part = await client.link(hash, { headers: { range: 'bytes=10-19' } })
    assert.equal(part.status, 206)
    assert.ok((await bytesOf(part)).equals(large.subarray(10, 20)))

    // A presigned address is for one method only, and a client that has the image is not sent anywhere.
    assert.equal((await client.link(hash, { method: 'HEAD', redirect: 'manual' })).status, 200)
    const etag = { 'if-none-match': `"${hash}"` }
    assert.equal((await client.link(hash, { headers: etag, redirect: 'manual' })).status, 304)
    for (const path of [smallHash, svgHash, `${svgHash}.svg`, `${hash}&m=w_20`]) {
      assert.equal((await client.link(path, { redirect: 'manual' })).status, 200)
    }

    const location = redirect.headers.get('location') ?? ''
    assert.equal((await client.remove(hash)).status, 200)
    await getSweeps(service).trash()
    assert.equal((await fetch(location)).status, 404)
  })

  test('accepts URLs signed for its public endpoint', async () => {
    // A place of its own in every run: a store belongs to the database that used it first.
    const name = `public-${randomBytes(6).toString('hex')}`
    const inside = testLocation(name).endpoint ?? ''
    const outside = inside.replace('127.0.0.1', 'localhost')
    assert.notEqual(inside, outside)
    await using service = await startService({
      flags: {
        'blobs-url': `${testBlobsUrl(name)}&public_endpoint=${outside}&redirect=1`,
      },
    })
    const client = new ImageClient(service.url, service.imageKey)
    const bytes = await gradient(20, 10).png().toBuffer()
    const hash = String((await client.upload(bytes)).body['hash'])
    const redirect = await client.link(hash, { redirect: 'manual' })
    assert.ok(redirect.headers.get('location')?.startsWith(`${outside}/`))
    assert.ok((await bytesOf(await client.link(hash))).equals(bytes))
  })

  test('lists all keys in pages', async () => {
    await using folder = await temporaryFolder()
    const staging = await Staging.open(folder.path, { flush: false })
    const { store, close } = openS3Blobs(
      testLocation(`many-${randomBytes(6).toString('hex')}`),
      staging,
      () => {},
    )
    const staged = await staging.write(Buffer.from('x'))
    const keys = Array.from({ length: 1_005 }, (_, index) => `key.${index}`)
    const left = keys.values()
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        for (const key of left) await store.put(key, staged)
      }),
    )
    const listed: string[] = []
    for await (const { key } of store.keys()) listed.push(key)
    close()
    assert.deepEqual(listed.toSorted(), keys.toSorted())
  })

  for (const [name, variables, bucket, hint] of [
    ['bucket', {}, 'no-such-bucket', 'NoSuchBucket, status 404: the bucket does not exist'],
    [
      'access key',
      { AWS_ACCESS_KEY_ID: 'UNKNOWN' },
      undefined,
      'InvalidAccessKeyId, status 403: the store does not know the access key',
    ],
    [
      'secret',
      { AWS_SECRET_ACCESS_KEY: 'wrong' },
      undefined,
      'SignatureDoesNotMatch, status 403: the secret key is not the one of the access key',
    ],
  ] as const) {
    test(`a wrong ${name} is reported at the start`, async () => {
      const before = { ...process.env }
      Object.assign(process.env, variables)
      try {
        const url = testBlobsUrl('start') ?? ''
        const flags = {
          'blobs-url': bucket === undefined ? url : url.replace(/^s3:\/\/[^/]+/, `s3://${bucket}`),
        }
        await using service = await startService({ flags })
        assert.equal((await fetch(`${service.url}/readyz`)).status, 503)
        assert.ok((await service.log()).includes(`"reason":"S3 ping: ${hint}"`), await service.log())
      } finally {
        for (const key of Object.keys(variables)) process.env[key] = before[key]
      }
    })
  }
})
