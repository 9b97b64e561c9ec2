import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { parseError } from '../support/error-codes.ts'
import { answerOf, bytesOf, expectedHash, getRaw, gradient, NO_IMAGE, plain } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { RawConnection } from '../support/raw.ts'

const png = await gradient(60, 40).png().toBuffer()
const jpeg = await gradient(60, 40).jpeg().toBuffer()
const tiff = await gradient(60, 40).tiff().toBuffer()
const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="9" height="9"/></svg>',
)
const hash = expectedHash(png)

const unknownIds: Readonly<Record<string, string>> = {
  nothing: '',
  'an unknown hash': 'a'.repeat(32),
  'an unknown hash with a modifier': `${'a'.repeat(32)}&m=w_1`,
  'an unknown hash with a wrong modifier': `${'a'.repeat(32)}&m=nada`,
  'upper case': hash.toUpperCase(),
  'too short': hash.slice(1),
  'too long': `${hash}a`,
  'very long': 'a'.repeat(4_000),
  'letters that are not base32': '01890189018901890189018901890189',
  'a NUL behind': `${hash}%00`,
  'a NUL before the extension': `${hash}%00.png`,
  'a line break behind': `${hash}%0A`,
  'a space behind': `${hash}%20`,
  'up and away': '..%2f..%2fcatalejo.db',
  'up and away, plainly written twice': '%2e%2e%2fcatalejo.db',
  'a folder before': `x/${hash}`,
  'a folder behind': `${hash}/x`,
  'a slash behind': `${hash}/`,
  'a backslash': '..%5ccatalejo.db',
  'other letters': '%C3%B1'.repeat(32),
  'letters that look alike': hash.replace(/^./, '%D0%B0'),
  'the key of a blob': `${hash}.0123456789ab`,
  'an unknown extension': `${hash}.bmp`,
  'a script as extension': `${hash}.php`,
  'an extension of no format that is written': `${hash}.svg`,
  'TIFF, which is not written': `${hash}.tiff`,
  'an empty extension': `${hash}.`,
  'two extensions': `${hash}.png.png`,
  'two dots': `${hash}..png`,
  'an extension and a space': `${hash}.png%20`,
  'a property of all objects as extension': `${hash}.constructor`,
}

const { service, client: fotos } = await startImages()
for (const bytes of [png, jpeg, tiff, svg]) assert.equal((await fotos.upload(bytes)).status, 200)

for (const [name, id] of Object.entries(unknownIds)) {
  test(`${name} names no image`, async () => {
    const { status, text } = await getRaw(service.url, `/i/${id}`)
    assert.deepEqual({ status, body: parseError(text) }, NO_IMAGE)
  })
}

test('the names of headers and parameters that mean nothing here change nothing', async () => {
  const response = await fotos.link(`${hash}?api=nada&x=1`)
  assert.deepEqual(await bytesOf(response), png)
})

for (const [format, bytes, extensions] of [
  ['PNG', png, ['png', 'PNG']],
  ['JPEG', jpeg, ['jpg', 'jpeg', 'JPG']],
  ['TIFF', tiff, ['tif', 'tiff']],
  ['SVG', svg, ['svg']],
] as const) {
  for (const extension of extensions) {
    test(`${format} under its own extension .${extension} is the original`, async () => {
      const response = await fotos.link(`${expectedHash(bytes)}.${extension}`)
      assert.equal(response.status, 200)
      assert.deepEqual(await bytesOf(response), bytes)
    })
  }
}

for (const [source, bytes] of [
  ['PNG', png],
  ['JPEG', jpeg],
  ['TIFF', tiff],
  ['SVG', svg],
] as const) {
  for (const [extension, mime, format] of [
    ['webp', 'image/webp', 'webp'],
    ['jpg', 'image/jpeg', 'jpeg'],
    ['JPEG', 'image/jpeg', 'jpeg'],
    ['png', 'image/png', 'png'],
    ['gif', 'image/gif', 'gif'],
    ['avif', 'image/avif', 'heif'],
  ] as const) {
    if (source.toLowerCase() === format) continue
    test(`${source} under .${extension} is converted`, async () => {
      const response = await fotos.link(`${expectedHash(bytes)}.${extension}`)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), mime)
      const { format: made, width, height } = await sharp(await bytesOf(response)).metadata()
      assert.deepEqual([made, width, height], [format, 60, 40])
    })
  }
}

test('all spellings of a modifier are equivalent', async () => {
  const expected = await fotos.link(`${hash}&m=w_30,f_webp`)
  const etag = expected.headers.get('etag')
  const bytes = await bytesOf(expected)
  assert.equal(expected.status, 200)
  for (const written of [
    `${hash}?m=w_30,f_webp`,
    `${hash}?m=f_webp,w_30`,
    `${hash}?x=1&m=w_30,f_webp`,
    `${hash}&m=w_30.webp`,
    `${hash}.webp&m=w_30`,
    `${hash}.webp?m=w_30`,
    `${hash}.jpg&m=w_30,f_webp`,
    `${hash}%26m=w_30,f_webp`,
    `${hash}&m=w_30%2Cf_webp`,
    `${hash}&m=w_7&m=w_30,f_webp`,
    `${hash}&m=w_30,f_webp?m=w_7`,
    `${hash}&m=w_30,f_webp&utm=x`,
    `${hash}&amp;m=w_30,f_webp`,
    `${hash}&amp;amp;m=w_30,f_webp`,
    `${hash}?amp;m=w_30,f_webp`,
    `${hash}?x=1&amp;m=w_30,f_webp`,
    `${hash}%26amp;m=w_30,f_webp`,
    `${hash}.webp&amp;m=w_30`,
  ]) {
    const response = await fotos.link(written)
    assert.equal(response.status, 200, written)
    assert.equal(response.headers.get('etag'), etag, written)
    assert.deepEqual(await bytesOf(response), bytes, written)
  }
})

test('an empty modifier is ignored', async () => {
  for (const written of [`${hash}&m=`, `${hash}?m=`, `${hash}&m`, `${hash}&`, `${hash}?`]) {
    assert.deepEqual(await bytesOf(await fotos.link(written)), png, written)
  }
})

for (const meant of [
  'M=w_30',
  'm[]=w_30',
  '%20m=w_30',
  'w_30',
  'thumb',
  'up',
  'w=30',
  'gray=1',
  'exp_1798765432',
  'm=w_30&h_20',
  'x=1&w_30',
]) {
  test(`a modifier outside m= is rejected by name: ${meant}`, async () => {
    for (const mark of ['&', '&amp;', '?']) {
      const refused = await fotos.link(`${hash}${mark}${meant}`)
      assert.equal(refused.headers.get('cache-control'), 'no-store')
      const name = decodeURIComponent(meant).replace(/^(?:m=w_30|x=1)&/, '')
      assert.deepEqual(plain(await answerOf(refused)), {
        status: 400,
        body: { status: 400, msg: `El modificador ${name} no existe` },
      })
    }
  })
}

test('parameters other than modifiers are ignored', async () => {
  for (const other of [
    'api=nada',
    'x=1',
    'utm_source=w_30',
    'v=2',
    'w=ancho',
    'r=0.1234',
    'amp;x=1',
    'h=abc',
    '_=1',
  ]) {
    for (const mark of ['&', '?']) {
      assert.deepEqual(await bytesOf(await fotos.link(`${hash}${mark}${other}`)), png, other)
    }
  }
})

for (const [what, path, init, status] of [
  ['an unknown image', 'a'.repeat(32), {}, 404],
  ['an unknown image, HEAD', 'a'.repeat(32), { method: 'HEAD' }, 404],
  ['a malformed id', 'nada', {}, 404],
  ['a broken escape', `${hash}%zz`, {}, 404],
  ['an address that is too long', `${hash}&m=${'w'.repeat(9_000)}`, {}, 414],
  ['an unknown modifier', `${hash}&m=nada`, {}, 400],
  ['an unknown modifier, HEAD', `${hash}&m=nada`, { method: 'HEAD' }, 400],
  ['a link that is over', `${hash}&m=exp_1`, {}, 410],
  ['a wrong signature', `${hash}&m=sig_${'A'.repeat(22)}`, {}, 403],
  ['a range past the end', hash, { headers: { range: 'bytes=99999999-' } }, 416],
  ['a method that is not for links', hash, { method: 'POST' }, 405],
] as const) {
  test(`the response to ${what} is not cacheable`, async () => {
    const response = await fotos.link(path, init)
    await response.body?.cancel()
    assert.deepEqual(
      ['cache-control', 'etag'].map((name) => response.headers.get(name)),
      ['no-store', null],
    )
    assert.ok(response.status === status || (status === 404 && response.status === 400))
  })
}

for (const token of ['w_+3', 'w_10&h_5', 'w_%31', 'w_%5F', 'á+%26=?#m=w_5']) {
  test(`a token is quoted exactly, in the path and in the query: ${token}`, async () => {
    for (const mark of ['&', '?']) {
      const refused = await answerOf(await fotos.link(`${hash}${mark}m=${encodeURIComponent(token)}`))
      assert.equal(refused.status, 400)
      assert.ok(String(refused.body['msg']).startsWith(`El modificador ${token} `), mark)
    }
  })
}

test('a second question mark belongs to the modifier', async () => {
  assert.deepEqual(plain(await answerOf(await fotos.link(`${hash}?m=w_30?x`))), {
    status: 400,
    body: { status: 400, msg: 'El modificador w_30?x no es válido: un entero de 1 a 8192' },
  })
})

test('a whole address in the request line, as it is sent to proxies', async () => {
  const connection = await RawConnection.open(service)
  for (const target of [hash, `${hash}?m=w_30`]) {
    connection.send(`GET http://ejemplo.cl/i/${target} HTTP/1.1\r\nhost: ejemplo.cl\r\n\r\n`)
    const reply = await connection.reply()
    assert.deepEqual([reply?.status, reply?.headers['content-type']], [200, 'image/png'], target)
  }
  connection.close()
})
