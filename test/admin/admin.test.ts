import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, send, type Fields, type Reply } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { record, stored } from '../support/domains.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const START = Date.parse('2026-01-05T13:20:30Z') / 1_000
const clock = new ManualClock('2026-01-05T13:20:30Z')
let service: TestService
let api: string

before(async () => {
  service = await startService({ clock })
  api = (await service.newKey('dueña', 'admin')).key
})
after(() => service[Symbol.asyncDispose]())

const get = (name: string) => call(service, `/api/v1/admin/${name}`, { query: { api } })
const post = (name: string, fields: Fields) =>
  send(service, `/api/v1/admin/${name}`, fields, { query: { api } })

/** The rows of an answer. */
function rowsOf({ body, text }: Reply): Record<string, unknown>[] {
  assert.ok(typeof body === 'object' && body !== null && 'data' in body && Array.isArray(body.data), text)
  return body.data
}

test('a key made here opens its service at once, is shown this once, and shuts at once', async () => {
  const made = await post('create', { account: ' Ana Ñ ', service: 'domainwatch' })
  assert.equal(made.headers.get('cache-control'), 'no-store')
  assert.ok(typeof made.body === 'object' && made.body !== null && 'key' in made.body && 'id' in made.body)
  const { id, key } = made.body
  assert.match(String(key), /^[a-km-np-z2-9]{32}$/)
  assert.deepEqual(made.body, { status: 200, id, key, account: 'Ana Ñ', service: 'domainwatch' })
  const list = () => call(service, '/api/v1/domainwatch/list', { query: { api: String(key) } })
  assert.equal((await list()).status, 200)

  const keys = await get('keys')
  assert.doesNotMatch(keys.text, new RegExp(String(key)))
  assert.deepEqual(
    rowsOf(keys).find((one) => one['id'] === id),
    { id, account: 'Ana Ñ', service: 'domainwatch', date: START, used: null, revoked: null },
  )
  assert.deepEqual((await post('revoke', { id })).body, { status: 200, id })
  assert.equal((await list()).status, 401)
  assert.deepEqual((await post('revoke', { id })).body, { status: 200, id })
  assert.equal(rowsOf(await get('keys')).find((one) => one['id'] === id)?.['revoked'], START)
})

test('administrators are made and shut out the same way', async () => {
  const made = await post('create', { account: 'segunda', service: 'admin' })
  assert.ok(typeof made.body === 'object' && made.body !== null && 'key' in made.body && 'id' in made.body)
  const { id, key } = made.body
  const status = async () =>
    (await call(service, '/api/v1/admin/keys', { query: { api: String(key) } })).status
  assert.equal(await status(), 200)
  assert.deepEqual((await post('revoke', { id })).body, { status: 200, id })
  assert.equal(await status(), 401)
})

test('what is refused', async () => {
  const other = (account: string, is: string) => ({
    status: 409,
    msg: `La cuenta ${account} es del servicio ${is}`,
  })
  assert.deepEqual(
    (await post('create', { account: 'grupo', service: 'imagestore' })).body,
    other('grupo', 'domainwatch'),
  )
  assert.deepEqual(
    (await post('create', { account: 'grupo', service: 'admin' })).body,
    other('grupo', 'domainwatch'),
  )
  assert.deepEqual(
    (await post('create', { account: 'dueña', service: 'imagestore' })).body,
    other('dueña', 'admin'),
  )
  const takes = 'debe ser un texto de 1 a 100 caracteres, sin caracteres de control'
  for (const account of ['', '  ', 'x'.repeat(101), 'a\nb']) {
    const { body } = await post('create', { account, service: 'imagestore' })
    assert.deepEqual(body, { status: 400, msg: `El parámetro account ${takes}` })
  }
  const wanted = { status: 400, msg: 'El parámetro service debe ser domainwatch o imagestore o admin' }
  assert.deepEqual((await post('create', { account: 'x' })).body, wanted)
  assert.deepEqual((await post('create', { account: 'x', service: 'todo' })).body, wanted)
  for (const fields of [{}, { id: '' }, { id: 'nada' }]) {
    assert.deepEqual((await post('revoke', fields)).body, { status: 404, msg: 'La clave no existe' })
  }
})

test('accounts with what they hold, and the last use of their keys', async () => {
  await stored(service, [record('uno'), record('dos')])
  const client = new ImageClient(service.url, service.imageKey)
  const picture = await gradient(40, 30).png().toBuffer()
  await client.upload(picture)
  clock.advance(3_600_000)
  await client.get('x')
  await get('keys')
  await service.app.context.accounts.writeUses()
  const accounts = rowsOf(await get('accounts'))
  const named = (account: string) => accounts.find((one) => one['account'] === account)
  const fotos = { account: 'fotos', service: 'imagestore', keys: 1, date: START }
  assert.deepEqual(named('fotos'), { ...fotos, images: 1, bytes: picture.byteLength, used: START + 3_600 })
  assert.deepEqual(named('dueña'), {
    account: 'dueña',
    service: 'admin',
    date: null,
    keys: 1,
    images: 0,
    bytes: 0,
    used: START + 3_600,
  })
  // Once more soon after is not written: a key in steady use costs a write every five minutes.
  clock.advance(60_000)
  await client.get('x')
  await service.app.context.accounts.writeUses()
  assert.equal(
    rowsOf(await get('accounts')).find((one) => one['account'] === 'fotos')?.['used'],
    START + 3_600,
  )
})

test('how the service is', async () => {
  const { body } = await get('system')
  assert.ok(typeof body === 'object' && body !== null && 'figures' in body)
  const { figures, ...rest } = body
  assert.partialDeepStrictEqual(rest, {
    status: 200,
    started: START,
    time_zone: 'America/Santiago',
    blobs: 'files',
    ready: { database: true, blobs: true },
    domains: 2,
    images: 1,
  })
  assert.equal(Object.fromEntries(Object.entries(figures ?? {}))['catalejo_database_waiting_writes'], 0)
})
