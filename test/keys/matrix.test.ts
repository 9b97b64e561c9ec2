import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ENDPOINTS } from '../support/endpoints.ts'
import { call, ENCODINGS, send, type Fields } from '../support/http.ts'
import { startService } from '../support/service.ts'

// Far more wrong keys than one address may send in a minute, and small bodies for the doctor to try.
const service = await startService({ flags: { 'failed-keys': '100000', 'max-image-bytes': '1MiB' } })
after(() => service[Symbol.asyncDispose]())

const MISSING = { status: 401, msg: 'Falta la clave de API' }
const WRONG = { status: 401, msg: 'La clave de API no es válida' }
const OTHER = { status: 403, msg: 'La clave de API no da acceso a este servicio' }

const revoked = {
  domainwatch: await service.newKey('revocada', 'domainwatch'),
  imagestore: await service.newKey('apagada', 'imagestore'),
  admin: await service.newKey('antigua', 'admin'),
}
before(async () => {
  for (const { id } of Object.values(revoked)) await service.revokeKey(id)
})

const keys = {
  domainwatch: service.domainKey,
  imagestore: service.imageKey,
  admin: (await service.newKey('dueña', 'admin')).key,
}
const OTHERS = { domainwatch: 'imagestore', imagestore: 'admin', admin: 'domainwatch' } as const

for (const { method, path, service: name } of ENDPOINTS) {
  const other = OTHERS[name]
  const cases: readonly [string, Fields, unknown][] = [
    ['no key', {}, MISSING],
    ['an empty key', { api: '' }, MISSING],
    ['a wrong key', { api: 'equivocada' }, WRONG],
    ['a key and white space', { api: `${keys[name]} ` }, WRONG],
    ['a key in capitals', { api: keys[name].toUpperCase() }, WRONG],
    ['a revoked key', { api: revoked[name].key }, WRONG],
    ["the other service's key", { api: keys[other] }, OTHER],
    ["the other service's revoked key", { api: revoked[other].key }, WRONG],
    ['a very long key', { api: 'x'.repeat(5_000) }, WRONG],
    ['NUL', { api: '\0' }, WRONG],
  ]

  test(`${method} ${path} answers the right key only, and its responses are private`, async () => {
    const assertPrivate = (headers: Headers) =>
      assert.deepEqual(
        [headers.get('cache-control'), headers.get('x-content-type-options')],
        ['no-store', 'nosniff'],
      )
    for (const [i, [what, query, wanted]] of cases.entries()) {
      // Before any other check: in every second request all else is wrong too.
      const spoiled = { ...query, limit: 'x', sort: 'up', cursor: '!', domain: '..', hash: '' }
      const headers = { 'content-type': ';;' }
      const body = method === 'GET' ? undefined : '{'
      const options = i % 2 === 0 ? { query } : { query: spoiled, headers, body }
      const reply = await call(service, path, { method, ...options })
      assert.deepEqual(reply.body, wanted, what)
      assertPrivate(reply.headers)
      if (method === 'GET') continue
      const encoding = ENCODINGS[i % ENCODINGS.length] ?? 'json'
      const fields = { ...query, data: 'x', info: 'x', image: '=', hash: '' }
      const inBody = await send(service, path, fields, { encoding, method })
      assert.deepEqual(inBody.body, wanted, `${what} in the body (${encoding})`)
    }
    const elsewhere = {
      authorization: `Bearer ${keys[name]}`,
      'x-api-key': keys[name],
      cookie: `api=${keys[name]}`,
    }
    assert.deepEqual((await call(service, path, { method, headers: elsewhere })).body, MISSING)
    const own = await call(service, path, { method, query: { api: keys[name] } })
    for (const refused of [MISSING, WRONG, OTHER]) assert.notDeepEqual(own.body, refused)
    assertPrivate(own.headers)
  })
}

test('a key in a JSON body must be a string', async () => {
  for (const api of [7, null, true, [service.domainKey], { key: service.domainKey }]) {
    const reply = await send(service, '/api/v1/domainwatch/add', { api, data: [] }, { encoding: 'json' })
    assert.ok(
      [MISSING.msg, WRONG.msg].some((msg) => reply.text.includes(msg)),
      reply.text,
    )
    assert.equal(reply.status, 401)
  }
})

test('an account can have several keys, which are revoked individually', async () => {
  const first = await service.newKey('relevo', 'domainwatch')
  const second = await service.newKey('relevo', 'domainwatch')
  const status = async (api: string) =>
    (await call(service, '/api/v1/domainwatch/list', { query: { api } })).status
  assert.deepEqual([await status(first.key), await status(second.key)], [200, 200])
  await service.revokeKey(first.id)
  await service.caughtUp()
  assert.deepEqual([await status(first.key), await status(second.key)], [401, 200])
})
