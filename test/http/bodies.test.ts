import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { ADD, names, record, UPDATE } from '../support/domains.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { startService } from '../support/service.ts'

const DELETE = '/api/v1/imagestore/delete'
const UPLOAD = '/api/v1/imagestore/upload'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

const picture = await readFile(new URL('../../assets/catalejo.png', import.meta.url))
const info = { name: 'catalejo.png', mime: 'image/png', ip: '127.0.0.1' }

async function uploaded(): Promise<string> {
  const fields = { api: service.imageKey, info, image: picture.toString('base64') }
  const { body } = await send(service, UPLOAD, fields)
  assert.ok(typeof body === 'object' && body !== null && 'hash' in body && typeof body.hash === 'string')
  return body.hash
}

for (const encoding of ENCODINGS) {
  test(`add and update take their key from the query or the body (${encoding})`, async () => {
    const name = `en-${encoding}`
    const data = [record(name)]
    const wanted = { status: 200, count: 1 }
    const marks = [{ domain: name, revision: 1 }]
    const query = { api: service.domainKey }
    assert.deepEqual((await send(service, ADD, { data }, { encoding, query })).body, wanted)
    const text = { data: JSON.stringify(data) }
    assert.deepEqual((await send(service, ADD, text, { encoding, query })).body, wanted)
    assert.deepEqual((await send(service, ADD, { data, api: service.domainKey }, { encoding })).body, wanted)
    assert.deepEqual(
      (await send(service, UPDATE, { data: marks, api: service.domainKey }, { encoding })).body,
      wanted,
    )
    const marked = () => names(service, { search: name, rev: '' })
    // What had its key in the body may have been another process's to write.
    await service.caughtUp()
    assert.deepEqual(await marked(), [name])
  })

  test(`delete takes its parameters from the body, with both methods (${encoding})`, async () => {
    for (const method of ['POST', 'DELETE']) {
      const hash = await uploaded()
      const { body } = await send(service, DELETE, { api: service.imageKey, hash }, { encoding, method })
      assert.deepEqual(body, { status: 200, hash })
    }
  })

  test(`the query wins over the body (${encoding})`, async () => {
    const hash = await uploaded()
    const query = { api: service.imageKey, hash }
    const fields = { api: 'mala', hash: 'otro' }
    assert.deepEqual((await send(service, DELETE, fields, { encoding, query })).body, { status: 200, hash })
    const wrong = await send(
      service,
      DELETE,
      { api: service.imageKey, hash },
      {
        encoding,
        query: { api: 'mala' },
      },
    )
    assert.deepEqual(wrong.body, { status: 401, msg: 'La clave de API no es válida' })
  })

  test(`a repeated field: the last one counts (${encoding})`, async () => {
    const hash = await uploaded()
    const repeated: Record<typeof encoding, () => Parameters<typeof call>[2]> = {
      urlencoded: () => ({
        body: new URLSearchParams([
          ['hash', 'otro'],
          ['api', 'mala'],
          ['api', service.imageKey],
          ['hash', hash],
        ]),
      }),
      multipart: () => {
        const form = new FormData()
        form.append('hash', 'otro')
        form.append('api', 'mala')
        form.append('api', service.imageKey)
        form.append('hash', hash)
        return { body: form }
      },
      json: () => ({
        body: `{"hash":"otro","api":"mala","api":"${service.imageKey}","hash":"${hash}"}`,
        headers: { 'content-type': 'application/json' },
      }),
    }
    assert.deepEqual((await call(service, DELETE, repeated[encoding]())).body, { status: 200, hash })
  })
}

const UNREADABLE: readonly [string, string, string | Uint8Array<ArrayBuffer>][] = [
  ['JSON cut off', 'application/json', '{"data":['],
  ['no UTF-8', 'application/json', new Uint8Array([0x22, 0xff, 0x22])],
  ['a JSON array', 'application/json', '[]'],
  ['a JSON null', 'application/json', 'null'],
  ['white space', 'application/json; charset=utf-8', '  '],
  ['multipart without boundary', 'multipart/form-data', '--x'],
  ['multipart without end', 'multipart/form-data; boundary=x', '--x\r\n\r\n'],
  ['url-encoded without UTF-8', 'application/x-www-form-urlencoded', 'data=%ff&hash=%ff&info=%ff'],
]

for (const [what, contentType, body] of UNREADABLE) {
  test(`a body that is ${what}`, async () => {
    const headers = { 'content-type': contentType }
    const read = async (path: string, api: string) =>
      (await call(service, path, { method: 'POST', query: { api }, headers, body })).body
    assert.partialDeepStrictEqual(await read(ADD, service.domainKey), { status: 500, count: 0, errors: [] })
    assert.partialDeepStrictEqual(await read(UPDATE, service.domainKey), { status: 400 })
    const msg = 'Falta información de la imagen'
    assert.deepEqual(await read(UPLOAD, service.imageKey), { status: 401, msg })
  })
}

test('a small body that cannot be read is a 400', async () => {
  const query = { api: service.imageKey }
  const headers = { 'content-type': 'application/json' }
  const { body } = await call(service, DELETE, { method: 'POST', query, headers, body: '{' })
  assert.deepEqual(body, { status: 400, msg: 'El cuerpo de la solicitud no se puede leer' })
})

test('a body of another type is a 415', async () => {
  for (const type of ['text/plain', 'application/octet-stream', 'image/png', '', 'x', ';;', 'text/json'])
    for (const [path, api] of [
      [ADD, service.domainKey],
      [UPLOAD, service.imageKey],
      [DELETE, service.imageKey],
    ] as const) {
      // As bytes, for which the client adds no type of its own.
      const body = new Uint8Array(Buffer.from('data=[]'))
      const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }
      const reply = await call(service, path, { method: 'POST', query: { api }, headers, body })
      const msg =
        'El tipo de contenido debe ser application/x-www-form-urlencoded, multipart/form-data o application/json'
      assert.deepEqual(reply.body, { status: 415, msg }, `${type} ${path}`)
    }
})

test('a POST without a body or a type has no fields', async () => {
  const post = async (path: string, api: string) =>
    (await call(service, path, { method: 'POST', query: { api } })).body
  const msg = 'Falta el parámetro data'
  assert.deepEqual(await post(ADD, service.domainKey), { status: 500, count: 0, msg, errors: [] })
  assert.deepEqual(await post(UPDATE, service.domainKey), { status: 400, count: 0, msg, errors: [] })
  assert.deepEqual(await post(UPLOAD, service.imageKey), {
    status: 401,
    msg: 'Falta información de la imagen',
  })
  assert.deepEqual(await post(DELETE, service.imageKey), { status: 404, msg: 'La imagen no existe' })
})
