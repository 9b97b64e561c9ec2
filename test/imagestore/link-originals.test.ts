import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseError } from '../support/error-codes.ts'
import { bytesOf, expectedHash, gradient, noise } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const small = await gradient(60, 40).png().toBuffer()
/** Past what is kept in memory: it goes out as a stream from the store. */
const large = await noise(700, 520).png({ compressionLevel: 0 }).toBuffer()
const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>alert(1)</script></svg>',
)

/** What every answer with an image carries, 304 and 206 included. */
const SAFE = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'accept-ranges': 'bytes',
  'access-control-allow-origin': '*',
}

function assertHeaders(response: Response, expected: Readonly<Record<string, string | null>>): void {
  const actual = Object.keys(expected).map((name) => [name, response.headers.get(name)])
  assert.deepEqual(Object.fromEntries(actual), expected)
}

const { client: fotos } = await startImages()
for (const bytes of [small, large, svg]) assert.equal((await fotos.upload(bytes)).status, 200)
assert.ok(large.length > 1024 * 1024)

for (const [name, bytes, mime] of [
  ['small', small, 'image/png'],
  ['large', large, 'image/png'],
  ['SVG', svg, 'image/svg+xml'],
] as const) {
  const hash = expectedHash(bytes)
  const size = bytes.length
  const etag = `"${hash}"`
  const whole = {
    ...SAFE,
    etag,
    'cache-tag': hash,
    'content-type': mime,
    'content-length': String(size),
    'content-range': null,
  }

  test(`${name}: GET gives the bytes uploaded, cold and hot`, async () => {
    for (let turn = 0; turn < 2; turn++) {
      const response = await fotos.link(hash)
      assert.equal(response.status, 200)
      assertHeaders(response, whole)
      assert.deepEqual(await bytesOf(response), bytes)
    }
  })

  test(`${name}: HEAD gives the headers of GET and no body`, async () => {
    const response = await fotos.link(hash, { method: 'HEAD' })
    assert.equal(response.status, 200)
    assertHeaders(response, whole)
    assert.equal((await bytesOf(response)).length, 0)
  })

  test(`${name}: HEAD knows no ranges (RFC 9110, section 14.2)`, async () => {
    const response = await fotos.link(hash, { method: 'HEAD', headers: { range: 'bytes=0-0' } })
    assert.equal(response.status, 200)
    assertHeaders(response, whole)
  })

  for (const [range, start, end] of [
    ['bytes=0-0', 0, 0],
    ['bytes=0-9', 0, 9],
    ['bytes=5-5', 5, 5],
    ['bytes=10-', 10, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    [`bytes=${size - 1}-${size - 1}`, size - 1, size - 1],
    [`bytes=0-${size - 1}`, 0, size - 1],
    ['bytes=0-999999999', 0, size - 1],
    [`bytes=0-${'9'.repeat(40)}`, 0, size - 1],
    ['bytes=-1', size - 1, size - 1],
    ['bytes=-7', size - 7, size - 1],
    ['bytes=-999999999', 0, size - 1],
  ] as const) {
    test(`${name}: Range ${range}`, async () => {
      const response = await fotos.link(hash, { headers: { range } })
      assert.equal(response.status, 206)
      assertHeaders(response, {
        ...whole,
        'content-length': String(end - start + 1),
        'content-range': `bytes ${start}-${end}/${size}`,
      })
      assert.deepEqual(await bytesOf(response), bytes.subarray(start, end + 1))
    })
  }

  for (const range of [
    `bytes=${size}-`,
    `bytes=${size}-${size + 5}`,
    'bytes=999999999-',
    `bytes=${'9'.repeat(400)}-`,
    'bytes=-0',
  ]) {
    test(`${name}: Range ${range} is beyond the image`, async () => {
      const response = await fotos.link(hash, { headers: { range } })
      assert.equal(response.status, 416)
      assertHeaders(response, {
        'content-range': `bytes */${size}`,
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      })
      assert.deepEqual(parseError(await response.text()), {
        status: 416,
        msg: 'El rango pedido está fuera de la imagen',
      })
    })
  }

  for (const range of [
    'bytes=5-2',
    'bytes=-',
    'bytes=a-b',
    'bytes',
    'octets=0-1',
    'bytes=0-1,3-4',
    'bytes=0x1-2',
  ]) {
    test(`${name}: Range ${range} is not supported, so the whole image is sent`, async () => {
      const response = await fotos.link(hash, { headers: { range } })
      assert.equal(response.status, 200)
      assert.deepEqual(await bytesOf(response), bytes)
    })
  }

  for (const [ifRange, status] of [
    [etag, 206],
    ['"otra"', 200],
    [`W/${etag}`, 200],
    [new Date().toUTCString(), 200],
  ] as const) {
    test(`${name}: If-Range ${ifRange === etag ? 'of the same' : ifRange.slice(0, 4)} gives ${status}`, async () => {
      const response = await fotos.link(hash, { headers: { range: 'bytes=0-3', 'if-range': ifRange } })
      assert.equal(response.status, status)
      assert.deepEqual(await bytesOf(response), status === 206 ? bytes.subarray(0, 4) : bytes)
    })
  }

  for (const tags of [etag, '*', `W/${etag}`, `"a", ${etag}`, `"a",W/${etag} , "b"`, ` ${etag} `]) {
    for (const method of ['GET', 'HEAD']) {
      test(`${name}: ${method}, If-None-Match ${tags.replaceAll(hash, 'hash')}`, async () => {
        const headers = { 'if-none-match': tags, range: 'bytes=0-0' }
        const response = await fotos.link(hash, { method, headers })
        assert.equal(response.status, 304)
        assertHeaders(response, { ...SAFE, etag, 'content-length': null, 'content-range': null })
        assert.equal((await bytesOf(response)).length, 0)
      })
    }
  }

  for (const tags of ['"otra"', hash, `"${hash}-x"`, '""', `"${hash.toUpperCase()}"`]) {
    test(`${name}: If-None-Match ${tags.replaceAll(hash, 'hash')} is another`, async () => {
      const response = await fotos.link(hash, { headers: { 'if-none-match': tags } })
      assert.equal(response.status, 200)
      assert.deepEqual(await bytesOf(response), bytes)
    })
  }
}

test('a client that disconnects during a large image does no harm', async () => {
  for (let turn = 0; turn < 5; turn++) {
    const leaving = new AbortController()
    const response = await fotos.link(expectedHash(large), { signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
  }
  assert.deepEqual(await bytesOf(await fotos.link(expectedHash(large))), large)
})

test('concurrent requests each get their bytes', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const bytes = [small, large, svg][index % 3] ?? small
      return [await bytesOf(await fotos.link(expectedHash(bytes))), bytes] as const
    }),
  )
  for (const [got, wanted] of answers) assert.ok(got.equals(wanted))
})
