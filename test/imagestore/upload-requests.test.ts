/** What the request of an upload may and may not contain, in each encoding. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answerOf,
  expectedHash,
  gradient,
  INFO,
  plain,
  DAMAGED,
  ImageClient,
  NO_INFO,
  noise,
  problem,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const png = await gradient(60, 40).png().toBuffer()
const base64 = (bytes: Buffer) => bytes.toString('base64')

const badInfo: Readonly<Record<string, unknown>> = {
  missing: undefined,
  null: null,
  'a number': 7,
  true: true,
  'an array': [INFO],
  'an empty object': {},
  'an empty text': '',
  'a text that is not JSON': '{name:"x"}',
  'cut JSON': JSON.stringify(INFO).slice(0, -1),
  'JSON of a text': JSON.stringify(JSON.stringify(INFO)),
  'JSON null': 'null',
  'JSON array': '[]',
  'without name': { mime: INFO.mime, ip: INFO.ip },
  'without mime': { name: INFO.name, ip: INFO.ip },
  'without ip': { name: INFO.name, mime: INFO.mime },
  'empty name': { ...INFO, name: '' },
  'U+0000 in the name': { ...INFO, name: 'nulo\0dentro' },
  'empty mime': { ...INFO, mime: '' },
  'empty ip': { ...INFO, ip: '' },
  'name a number': { ...INFO, name: 5 },
  'name null': { ...INFO, name: null },
  'mime an object': { ...INFO, mime: {} },
  'ip a number': { ...INFO, ip: 127 },
  'ip out of range': { ...INFO, ip: '300.1.1.1' },
  'ip a host name': { ...INFO, ip: 'localhost' },
  'ip with a port': { ...INFO, ip: '127.0.0.1:80' },
  'ip with spaces': { ...INFO, ip: ' 127.0.0.1' },
  'ip with an endless zone': { ...INFO, ip: `fe80::1%${'a'.repeat(10_000)}` },
  'ip of three numbers': { ...INFO, ip: '127.0.1' },
  'fields of other capitals': { Name: 'x', MIME: 'image/png', IP: '127.0.0.1' },
}

/** Faults of the address alone. */
const isAboutIp = (name: string) => /\bip\b/.test(name)

/** By the reason that the answer gives. */
const badImage: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  missing: {
    missing: undefined,
    null: null,
  },
  not_base64: {
    'a data: prefix alone': 'data:image/png;base64,',
    'padding alone': '====',
    'white space': ' \n',
    empty: '',
    'a number': 12345678,
    'an array': [base64(png)],
    'not base64': 'esto no es base64!',
    'foreign character within': `${base64(png).slice(0, 40)}*${base64(png).slice(40)}`,
    'an impossible length': base64(png).replace(/=+$/, '').slice(0, 41),
  },
  format: {
    'SVG without size': base64(Buffer.from('<svg')),
    'base64 twice': base64(Buffer.from(base64(png))),
    'a text': base64(Buffer.from('no soy una imagen')),
    'one octet': 'AA==',
    HTML: base64(Buffer.from('<!doctype html><svg></svg>')),
    BMP: base64(Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)])),
    PDF: base64(Buffer.from('%PDF-1.7\n%âãÏÓ\n')),
    'a sequence in HEVC': base64(Buffer.from('\0\0\0\x18ftyphevc\0\0\0\0mif1heic', 'latin1')),
    'JPEG XL': base64(Buffer.from('ff0afa1f01900a0400', 'hex')),
    'JPEG XL in a container': base64(Buffer.from('0000000c4a584c200d0a870a00000014667479706a786c20', 'hex')),
    ICO: base64(Buffer.from('00000100010010100000010020006804000016000000', 'hex')),
    PSD: base64(Buffer.from('8BPS\0\x01\0\0\0\0\0\0\0\x03\0\0\0\x10\0\0\0\x10\0\x08\0\x03', 'latin1')),
  },
  too_many_pixels: {
    'SVG of 100,000 × 100,000': base64(
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="100000" height="100000"/>'),
    ),
    'GIF with a screen of 65,535 × 65,535': base64(
      Buffer.from('474946383961ffffffff8000000000000000ff2c00000000010001000002024401003b', 'hex'),
    ),
  },
  damaged: {
    'the type of a HEIC alone': base64(Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')),
    'a PNG signature alone': base64(png.subarray(0, 8)),
    'PNG cut in half': base64(png.subarray(0, png.length >> 1)),
    'PNG with a changed octet': base64(changed(png, png.length - 30)),
    'SVG that is not closed': base64(
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'),
    ),
  },
}

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 0xff
  return copy
}

const { service, client: fotos } = await startImages({ flags: { 'max-image-bytes': '20000' } })

for (const [name, info] of Object.entries(badInfo)) {
  test(`info: ${name}`, async () => {
    const answer = await fotos.post({ image: base64(png), info })
    assert.deepEqual(plain(answer), NO_INFO)
    assert.equal(answer.reason, isAboutIp(name) ? 'ip' : 'info')
  })
}

for (const [reason, images] of Object.entries(badImage)) {
  for (const [name, image] of Object.entries(images)) {
    test(`image: ${name}`, async () => {
      const answer = await fotos.post({ image, info: INFO })
      assert.deepEqual(plain(answer), DAMAGED)
      assert.equal(answer.reason, reason)
    })
  }
}

test('rejected uploads store nothing', async () => {
  assert.deepEqual((await fotos.list()).body, { status: 200, count: 0, total: 0, data: [] })
})

test('the key first, then info, then the image', async () => {
  const stranger = new ImageClient(service.url, 'x'.repeat(32))
  const wrongKey = problem(401, 'La clave de API no es válida')
  assert.deepEqual(plain(await stranger.post({ image: '*', info: {} })), wrongKey)
  assert.deepEqual(plain(await stranger.post({ image: base64(png), info: INFO })), wrongKey)
  assert.deepEqual(plain(await fotos.post({ image: '*', info: {} })), NO_INFO)
  assert.deepEqual(plain(await fotos.post({ image: base64(Buffer.alloc(20_001)), info: {} })), NO_INFO)
  assert.deepEqual(plain(await fotos.post({ image: '*', info: INFO })), DAMAGED)
})

test('the key in the body is checked before info and image', async () => {
  const send = async (body: Readonly<Record<string, string>>) =>
    plain(
      await answerOf(
        await fetch(`${service.url}/api/v1/imagestore/upload`, {
          method: 'POST',
          body: new URLSearchParams(body),
        }),
      ),
    )
  assert.deepEqual(await send({ image: '*', info: '' }), problem(401, 'Falta la clave de API'))
  assert.deepEqual(await send({ api: '', image: '*' }), problem(401, 'Falta la clave de API'))
  assert.deepEqual(await send({ api: 'no', image: '*' }), problem(401, 'La clave de API no es válida'))
  assert.deepEqual(
    await send({ api: service.domainKey, image: '*' }),
    problem(403, 'La clave de API no da acceso a este servicio'),
  )
  assert.deepEqual(await send({ api: service.imageKey, image: '*' }), NO_INFO)
})

test('too large an image is a 413, in the body or past its limit, and one at the limit is stored', async () => {
  const fitting = await noise(70, 80).png({ compressionLevel: 0 }).toBuffer()
  assert.ok(fitting.length < 20_000)
  // What follows the end of a PNG is not read.
  const atLimit = Buffer.concat([fitting, Buffer.alloc(20_000 - fitting.length)])
  const tooLarge = problem(413, 'La imagen supera el máximo de 20000 bytes')
  assert.equal((await fotos.upload(atLimit)).status, 200)
  const over = await fotos.upload(Buffer.concat([atLimit, Buffer.alloc(1)]))
  assert.deepEqual([plain(over), over.reason], [tooLarge, 'too_many_bytes'])
  assert.deepEqual(plain(await fotos.upload(Buffer.alloc(500_000))), tooLarge)
  const huge = await fotos.upload(Buffer.alloc(3_000_000))
  assert.deepEqual([huge.status, huge.body['status'], typeof huge.body['msg']], [413, 413, 'string'])
  assert.equal((await fotos.upload(png)).status, 200)
})

const encoded = base64(png)
const info = JSON.stringify(INFO)

const text = (value: string) => `Content-Disposition: form-data; name="${value}"`

/** A body as old clients write it, part by part. */
function multipart(parts: readonly (readonly [headers: string, content: string | Buffer])[]) {
  const boundary = '----limite'
  const pieces = parts.flatMap(([headers, content]) => [
    Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
  }
}

function form(fields: Readonly<Record<string, string | File>>) {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return { body }
}

const json = (body: unknown) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const upperFirst = encoded.replaceAll(/.{76}/g, '$&\r\n')

const encodings: Readonly<Record<string, RequestInit>> = {
  urlencoded: { body: new URLSearchParams({ image: encoded, info }) },
  'urlencoded with lines': { body: new URLSearchParams({ image: upperFirst, info }) },
  'urlencoded whose plus signs were not escaped': {
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
    body: `info=${encodeURIComponent(info)}&image=${encoded.replaceAll('=', '%3D')}`,
  },
  'JSON, info an object': json({ image: encoded, info: INFO }),
  'JSON, info a text': json({ image: encoded, info }),
  'JSON with a charset': {
    headers: { 'content-type': 'Application/JSON; charset=utf-8' },
    body: JSON.stringify({ info: INFO, image: encoded }),
  },
  'JSON with escaped slashes': {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ image: encoded, info: INFO }).replaceAll('/', String.raw`\/`),
  },
  'URL alphabet without padding': json({ image: png.toString('base64url'), info: INFO }),
  'URL alphabet with padding': json({
    image: encoded.replaceAll('+', '-').replaceAll('/', '_'),
    info: INFO,
  }),
  'standard alphabet without padding': json({ image: encoded.replace(/=+$/, ''), info: INFO }),
  'a line break after every 76': json({ image: upperFirst, info: INFO }),
  'white space around and within': json({
    image: ` \t${encoded.slice(0, 5)} \n${encoded.slice(5)}\n`,
    info: INFO,
  }),
  'data: prefix': json({ image: `data:image/png;base64,${encoded}`, info: INFO }),
  'data: prefix of another type': json({ image: `data:;base64,${encoded}`, info: INFO }),
  'multipart, text parts': form({ image: encoded, info }),
  'multipart, text parts with lines': form({ image: upperFirst, info }),
  'multipart, a file': form({ image: new File([png], 'x.png', { type: 'image/png' }), info }),
  'multipart, a file after info': form({ info, image: new File([png], 'x.png', { type: 'image/png' }) }),
  'multipart, info as a part with a type, which browsers send as a file': form({
    info: new File([info], 'blob', { type: 'application/json' }),
    image: new File([png], 'x.png', { type: 'image/png' }),
  }),
  'multipart, a file without type': multipart([
    [text('info'), info],
    ['Content-Disposition: form-data; name="image"; filename="x.png"', png],
  ]),
  'multipart, a file whose transfer is base64': multipart([
    [
      'Content-Disposition: form-data; name="image"; filename="x.png"\r\nContent-Type: image/png\r\n' +
        'Content-Transfer-Encoding: base64',
      upperFirst,
    ],
    [`${text('info')}\r\nContent-Type: application/json`, info],
  ]),
  'multipart, raw bytes without a file name': multipart([
    [`${text('image')}\r\nContent-Type: image/png`, png],
    [text('info'), info],
  ]),
}

for (const [name, init] of Object.entries(encodings)) {
  test(name, async () => {
    const answer = await answerOf(await fetch(fotos.endpoint('upload'), { method: 'POST', ...init }))
    assert.equal(answer.status, 200)
    const expected = { hash: expectedHash(png), size: png.length, width: 60, height: 40 }
    assert.partialDeepStrictEqual(answer.body, expected)
    const link = await fotos.link(expectedHash(png))
    assert.deepEqual(Buffer.from(await link.arrayBuffer()), png)
    await fotos.remove(expectedHash(png))
  })
}

for (const [given, expected] of [
  [{ ip: '::1' }, { name: 'mi «foto» ñ.png', mime: 'image/png' }],
  [
    { ip: '10.0.0.1', name: 'otro.gif' },
    { name: 'otro.gif', mime: 'image/png' },
  ],
] as const) {
  test(`name and mime default to those of the file part: ${JSON.stringify(given)}`, async () => {
    const init = form({
      image: new File([png], 'mi «foto» ñ.png', { type: 'image/png' }),
      info: JSON.stringify(given),
    })
    const uploaded = await fetch(fotos.endpoint('upload'), { method: 'POST', ...init })
    assert.equal(uploaded.status, 200)
    const { body } = await fotos.get(expectedHash(png))
    assert.deepEqual({ name: body['name'], mime: body['mime'] }, expected)
  })
}
