import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { LIST, record, stored } from '../support/domains.ts'
import { ENDPOINTS } from '../support/endpoints.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { WATCHES, getWatches } from '../support/watches.ts'

/** What the first specification describes: its clients may send anything else besides. */
const SEED = [
  'POST /api/v1/domainwatch/add',
  'GET /api/v1/domainwatch/list',
  'GET /api/v1/domainwatch/dns',
  'POST /api/v1/imagestore/upload',
  'GET /api/v1/imagestore/get',
]
const unknown = (name: string, nearest: string) => ({
  status: 400,
  msg: `El parámetro ${name} no existe: ¿quiso decir ${nearest}?`,
})

suite('unknown parameters', () => {
  let service: TestService
  let keys: Readonly<Record<'domainwatch' | 'imagestore' | 'admin', string>>
  before(async () => {
    service = await startService({ flags: { 'dns-servers': '127.0.0.1:9' } })
    const admin = (await service.newKey('dueña', 'admin')).key
    keys = { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
  })
  after(() => service[Symbol.asyncDispose]())

  for (const { method, path, service: name } of ENDPOINTS) {
    if (SEED.includes(`${method} ${path}`)) continue

    test(`${method} ${path} refuses one in the query and in the body`, async () => {
      const query = { api: keys[name], apu: '1' }
      assert.deepEqual((await call(service, path, { method, query })).body, unknown('apu', 'api'))
      if (method === 'GET') return
      for (const encoding of ENCODINGS) {
        const inBody = { encoding, method }
        const reply = await send(service, path, { apu: '' }, { ...inBody, query: { api: keys[name] } })
        assert.deepEqual(reply.body, unknown('apu', 'api'), encoding)
        const withKey = await send(service, path, { api: keys[name], apu: '1' }, inBody)
        assert.deepEqual(withKey.body, unknown('apu', 'api'), encoding)
      }
    })
  }

  test('the nearest known parameter is named, and nothing is stored', async () => {
    const query = { api: keys.domainwatch }
    for (const [given, nearest] of [
      ['stauts', 'status'],
      ['STATUS', 'status'],
      ['max-length', 'max_length'],
      ['name ', 'name'],
      ['__proto__', 'starts'],
    ] as const) {
      const fields = new URLSearchParams([
        ['name', 'x'],
        ['atom', ''],
        [given, '0'],
      ])
      const reply = await call(service, WATCHES, { query, body: fields })
      assert.equal(reply.status, 400, given)
      if (given !== '__proto__') assert.deepEqual(reply.body, unknown(given, nearest))
    }
    assert.deepEqual(await getWatches(service), [])
    const update = { data: [{ domain: 'x', revision: 1 }], expects: '1' }
    const batch = await send(service, '/api/v1/domainwatch/update', update, { query })
    assert.deepEqual(batch.body, unknown('expects', 'api'))
    const long = await call(service, WATCHES, { query: { ...query, [`\u202e${'x'.repeat(5_000)}`]: '' } })
    assert.deepEqual(long.body, unknown(`\\u202e${'x'.repeat(39)}`, 'api'))
  })

  test('a wrong key is refused first', async () => {
    const wrong = { status: 401, msg: 'La clave de API no es válida' }
    assert.deepEqual((await call(service, WATCHES, { query: { api: 'x', apu: '' } })).body, wrong)
    assert.deepEqual((await send(service, WATCHES, { api: 'x', apu: '' })).body, wrong)
  })

  test('endpoints of the first specification ignore them', async () => {
    await stored(service, [record('casa')])
    const query = { api: keys.domainwatch, _: '1', callback: 'x' }
    const listed = await call(service, LIST, { query })
    assert.deepEqual([listed.status, Object(listed.body).count], [200, 1])
    for (const encoding of ENCODINGS) {
      const fields = { data: [record('casa')], submit: 'Enviar' }
      assert.equal((await send(service, '/api/v1/domainwatch/add', fields, { encoding, query })).status, 200)
    }
    const dns = await call(service, '/api/v1/domainwatch/dns', { query: { ...query, domain: 'nic.cl' } })
    assert.equal(dns.status, 502)
    const images = { api: keys.imagestore, _: '1' }
    const none = await call(service, '/api/v1/imagestore/get', { query: { ...images, hash: 'x' } })
    assert.deepEqual(none.body, { status: 404, msg: 'La imagen no existe' })
    const refused = await send(service, '/api/v1/imagestore/upload', { submit: '' }, { query: images })
    assert.deepEqual(refused.body, { status: 401, msg: 'Falta información de la imagen' })
  })
})
