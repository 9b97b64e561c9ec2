import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { answerOf, expectedHash, gradient, ImageClient, INFO, plain, UNEDITED } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'

const png = await gradient(60, 40).png().toBuffer()
const base64 = png.toString('base64')
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

const upperFirst = base64.replaceAll(/.{76}/g, '$&\r\n')

const encodings: Readonly<Record<string, RequestInit>> = {
  urlencoded: { body: new URLSearchParams({ image: base64, info }) },
  'urlencoded with lines': { body: new URLSearchParams({ image: upperFirst, info }) },
  'urlencoded whose plus signs were not escaped': {
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
    body: `info=${encodeURIComponent(info)}&image=${base64.replaceAll('=', '%3D')}`,
  },
  'JSON, info an object': json({ image: base64, info: INFO }),
  'JSON, info a text': json({ image: base64, info }),
  'JSON with a charset': {
    headers: { 'content-type': 'Application/JSON; charset=utf-8' },
    body: JSON.stringify({ info: INFO, image: base64 }),
  },
  'JSON with escaped slashes': {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ image: base64, info: INFO }).replaceAll('/', String.raw`\/`),
  },
  'URL alphabet without padding': json({ image: png.toString('base64url'), info: INFO }),
  'URL alphabet with padding': json({
    image: base64.replaceAll('+', '-').replaceAll('/', '_'),
    info: INFO,
  }),
  'standard alphabet without padding': json({ image: base64.replace(/=+$/, ''), info: INFO }),
  'a line break after every 76': json({ image: upperFirst, info: INFO }),
  'white space around and within': json({
    image: ` \t${base64.slice(0, 5)} \n${base64.slice(5)}\n`,
    info: INFO,
  }),
  'data: prefix': json({ image: `data:image/png;base64,${base64}`, info: INFO }),
  'data: prefix of another type': json({ image: `data:;base64,${base64}`, info: INFO }),
  'multipart, text parts': form({ image: base64, info }),
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

suite('upload in every encoding', () => {
  let service: TestService
  let fotos: ImageClient

  before(async () => {
    service = await startService()
    fotos = new ImageClient(service.url, service.imageKey)
  })
  after(() => service[Symbol.asyncDispose]())

  for (const [name, init] of Object.entries(encodings)) {
    test(name, async () => {
      const answer = await answerOf(await fetch(fotos.endpoint('upload'), { method: 'POST', ...init }))
      const { dhash, thumbhash, color, dark } = answer.body
      assert.match(String(dhash), /^[0-9a-f]{16}$/)
      const [hash, size] = [expectedHash(png), png.length]
      assert.deepEqual(plain(answer), {
        status: 200,
        body: {
          status: 200,
          hash,
          dhash,
          size,
          width: 60,
          height: 40,
          thumbhash,
          color,
          dark,
          ...UNEDITED,
          link: `${service.url}/i/${hash}`,
          similar: 0,
        },
      })
      const link = await fotos.link(expectedHash(png))
      assert.deepEqual(Buffer.from(await link.arrayBuffer()), png)
      await fotos.remove(expectedHash(png))
    })
  }

  test('the key may come in the body of each encoding', async () => {
    const url = `${service.url}/api/v1/imagestore/upload`
    const api = service.imageKey
    const bodies: RequestInit[] = [
      { body: new URLSearchParams({ api, image: base64, info }) },
      json({ api, image: base64, info: INFO }),
      form({ image: new File([png], 'x.png'), info, api }),
    ]
    for (const init of bodies) {
      const answer = await answerOf(await fetch(url, { method: 'POST', ...init }))
      assert.equal(answer.status, 200)
    }
  })

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

  test('of a repeated field the last counts', async () => {
    const body = new URLSearchParams([
      ['image', 'AAAA'],
      ['info', '{}'],
      ['info', info],
      ['image', base64],
    ])
    const answer = await answerOf(await fetch(fotos.endpoint('upload'), { method: 'POST', body }))
    assert.equal(answer.body['hash'], expectedHash(png))
  })
})
