import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, send, type Fields, type Reply } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { record, stored } from '../support/domains.ts'
import { claim } from '../support/queue.ts'
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
function toRows({ body, text }: Reply): Record<string, unknown>[] {
  assert.ok(typeof body === 'object' && body !== null && 'data' in body && Array.isArray(body.data), text)
  return body.data
}

test('a created key works immediately, is shown once, and stops working when revoked', async () => {
  const made = await post('create', { account: ' Ana Ñ ', service: 'domainwatch' })
  assert.equal(made.headers.get('cache-control'), 'no-store')
  assert.ok(typeof made.body === 'object' && made.body !== null && 'key' in made.body && 'id' in made.body)
  const { id, key } = made.body
  assert.match(String(key), /^[a-km-np-z2-9]{32}$/)
  const limits = { scope: 'full', expires: null, rate: null }
  assert.deepEqual(made.body, { status: 200, id, key, account: 'Ana Ñ', service: 'domainwatch', ...limits })
  const list = () => call(service, '/api/v1/domainwatch/list', { query: { api: String(key) } })
  assert.equal((await list()).status, 200)

  const keys = await get('keys')
  assert.doesNotMatch(keys.text, new RegExp(String(key)))
  assert.deepEqual(
    toRows(keys).find((one) => one['id'] === id),
    { id, account: 'Ana Ñ', service: 'domainwatch', date: START, used: null, revoked: null, ...limits },
  )
  assert.deepEqual((await post('revoke', { id })).body, { status: 200, id })
  assert.equal((await list()).status, 401)
  assert.deepEqual((await post('revoke', { id })).body, { status: 200, id })
  assert.equal(toRows(await get('keys')).find((one) => one['id'] === id)?.['revoked'], START)
})

test('a created key has its scope, expiry and rate, which the list shows', async () => {
  const given = { account: 'Ana Ñ', service: 'domainwatch', scope: 'read', expires: '90d', rate: '60/min' }
  const { body } = await post('create', given)
  assert.ok(typeof body === 'object' && body !== null && 'key' in body && 'id' in body)
  const limits = { scope: 'read', expires: START + 90 * 86_400, rate: '60/min' }
  const named = { account: 'Ana Ñ', service: 'domainwatch', ...limits }
  assert.deepEqual(body, { status: 200, id: body.id, key: body.key, ...named })
  assert.deepEqual(
    toRows(await get('keys')).find(({ id }) => id === body.id),
    { id: body.id, ...named, date: START, used: null, revoked: null },
  )
  const mark = await send(service, '/api/v1/domainwatch/update', { data: [] }, { query: { api: body.key } })
  assert.deepEqual(mark.body, { status: 403, msg: 'La clave de API no permite esta operación' })
  assert.deepEqual((await post('revoke', { id: body.id })).body, { status: 200, id: body.id })
})

test('limits of keys are validated', async () => {
  const created = async (fields: Fields) => {
    const { body } = await post('create', { account: 'límites', service: 'imagestore', ...fields })
    assert.ok(typeof body === 'object' && body !== null)
    const { scope, expires, rate, msg } = { scope: null, expires: null, rate: null, msg: null, ...body }
    if (msg !== null) return msg
    return [scope, typeof expires === 'number' ? expires - START : expires, rate]
  }
  assert.deepEqual(await created({ scope: 'upload' }), ['upload', null, null])
  assert.deepEqual(await created({ expires: '1m' }), ['full', 60, null])
  assert.deepEqual(await created({ expires: '36h' }), ['full', 129_600, null])
  assert.deepEqual(await created({ expires: '3650d' }), ['full', 315_360_000, null])
  for (const rate of ['1/s', '5/s', '60/min', '1000/h', '10000/day', '1000000/day']) {
    assert.deepEqual(await created({ rate }), ['full', null, rate])
  }
  const expires =
    'El parámetro expires debe ser un plazo de minutos, horas o días, como 30m, 12h o 90d, de 3650d como máximo'
  for (const wrong of ['', '0d', '-1d', '90', 'd', '1.5d', '90 d', '3651d', '90D', '1y', '99999999d']) {
    assert.equal(await created({ expires: wrong }), expires, wrong)
  }
  const rate = 'El parámetro rate debe ser un máximo de solicitudes por s, min, h o day, como 5/s o 60/min'
  for (const wrong of [
    '',
    '60',
    '0/min',
    '60/',
    '/min',
    '60/m',
    '1.5/s',
    '60 / min',
    '1000001/s',
    '60/year',
  ]) {
    assert.equal(await created({ rate: wrong }), rate, wrong)
  }
  const scope = 'El parámetro scope debe ser uno de: read, upload, tickets, full'
  assert.equal(await created({ scope: 'write' }), scope)
  const any = 'El parámetro scope debe ser uno de: read, write, full, upload, tickets'
  for (const wrong of ['', 'todo', 'READ']) assert.equal(await created({ scope: wrong }), any, wrong)
  const other = async (service_: string, scope_: string) => {
    const { body } = await post('create', { account: service_, service: service_, scope: scope_ })
    return body
  }
  assert.deepEqual(await other('domainwatch', 'upload'), {
    status: 400,
    msg: 'El parámetro scope debe ser uno de: read, write, full',
  })
  assert.deepEqual(await other('admin', 'read'), { status: 400, msg: 'El parámetro scope debe ser full' })
})

test('an expired key is listed, but not counted as active', async () => {
  const { body } = await post('create', { account: 'vencida', service: 'imagestore', expires: '1h' })
  assert.ok(typeof body === 'object' && body !== null && 'id' in body)
  const keys = async () =>
    toRows(await get('accounts')).find(({ account }) => account === 'vencida')?.['keys']
  assert.equal(await keys(), 1)
  await service.newKey('vencida', 'imagestore', {
    scope: 'full',
    expiresAt: clock.now() - 1,
    rate: null,
  })
  assert.equal(await keys(), 1)
  const states = toRows(await get('keys')).filter(({ account }) => account === 'vencida')
  assert.deepEqual(
    states
      .map(({ expires, revoked }) => [Number(expires), revoked])
      .toSorted(([a], [b]) => Number(a) - Number(b)),
    [
      [Math.floor((clock.now() - 1) / 1_000), null],
      [Math.floor(clock.now() / 1_000) + 3_600, null],
    ],
  )
})

test('rejects invalid requests', async () => {
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
  const takes = 'debe ser un texto de 1 a 100 caracteres, sin caracteres de control ni invisibles'
  for (const account of ['', '  ', 'x'.repeat(101), 'a\nb']) {
    const { body } = await post('create', { account, service: 'imagestore' })
    assert.deepEqual(body, { status: 400, msg: `El parámetro account ${takes}` })
  }
  const wanted = { status: 400, msg: 'El parámetro service debe ser uno de: domainwatch, imagestore, admin' }
  assert.deepEqual((await post('create', { account: 'x' })).body, wanted)
  assert.deepEqual((await post('create', { account: 'x', service: 'todo' })).body, wanted)
  for (const fields of [{}, { id: '' }, { id: 'nada' }]) {
    assert.deepEqual((await post('revoke', fields)).body, { status: 404, msg: 'La clave no existe' })
  }
})

test('accounts are listed with their storage and the last use of their keys', async () => {
  await stored(service, [record('uno'), record('dos')])
  const client = new ImageClient(service.url, service.imageKey)
  const picture = await gradient(40, 30).png().toBuffer()
  await client.upload(picture)
  clock.advance(3_600_000)
  await client.get('x')
  await get('keys')
  await service.app.context.accounts.writeUses()
  const accounts = toRows(await get('accounts'))
  const named = (account: string) => accounts.find((one) => one['account'] === account)
  const fotos = { account: 'fotos', service: 'imagestore', keys: 1, date: START }
  const terms = { max_images: null, max_bytes: null, delivery: 'open' }
  assert.deepEqual(named('fotos'), {
    ...fotos,
    images: 1,
    bytes: picture.byteLength,
    ...terms,
    used: START + 3_600,
  })
  assert.deepEqual(named('dueña'), {
    account: 'dueña',
    service: 'admin',
    date: null,
    keys: 1,
    images: 0,
    bytes: 0,
    max_images: null,
    max_bytes: null,
    delivery: null,
    used: START + 3_600,
  })
  // Once more soon after is not written: a key in steady use costs a write every five minutes.
  clock.advance(60_000)
  await client.get('x')
  await service.app.context.accounts.writeUses()
  assert.equal(
    toRows(await get('accounts')).find((one) => one['account'] === 'fotos')?.['used'],
    START + 3_600,
  )
})

test('an update of the limits and delivery mode of an application is atomic', async () => {
  const client = new ImageClient(service.url, (await service.newKey('galería', 'imagestore')).key)
  const picture = (width: number) => gradient(width, 9).png().toBuffer()
  const update = async (fields: Fields) => (await post('limits', { account: 'galería', ...fields })).body
  const free = { status: 200, account: 'galería', max_images: null, max_bytes: null, delivery: 'open' }
  assert.deepEqual(await update({}), free)
  assert.deepEqual(await update({ max_images: '1', delivery: 'ladder' }), {
    ...free,
    max_images: 1,
    delivery: 'ladder',
  })
  assert.deepEqual(await update({ max_bytes: 5_000_000 }), {
    ...free,
    max_images: 1,
    max_bytes: 5_000_000,
    delivery: 'ladder',
  })
  // The name of the endpoint before the first release.
  const alias = await post('settle', { account: 'galería', max_bytes: 5_000_000 })
  assert.deepEqual(alias.body, await update({}))
  const held = toRows(await get('accounts')).find((one) => one['account'] === 'galería')
  assert.partialDeepStrictEqual(held, { max_images: 1, max_bytes: 5_000_000, delivery: 'ladder', images: 0 })

  assert.equal((await client.upload(await picture(21))).status, 200)
  assert.deepEqual((await client.upload(await picture(22))).body, {
    status: 403,
    msg: 'La aplicación ya tiene el máximo de 1 imágenes',
  })
  assert.deepEqual(await update({ max_images: 'none', delivery: 'signed' }), {
    ...free,
    max_bytes: 5_000_000,
    delivery: 'signed',
  })
  const second = await client.upload(await picture(22))
  assert.equal(second.status, 200)
  assert.equal((await client.link(String(second.body['hash']))).status, 403, 'only signed links are good')

  const takes = 'debe ser un entero entre 0 y 999999999999999, o none'
  for (const bad of ['-1', '1.5', '', 'todo', '1234567890123456']) {
    assert.deepEqual(await update({ delivery: 'open', max_bytes: bad }), {
      status: 400,
      msg: `El parámetro max_bytes ${takes}`,
    })
  }
  assert.deepEqual(await update({ delivery: 'abierto', max_images: 9 }), {
    status: 400,
    msg: 'El parámetro delivery debe ser uno de: open, ladder, presets, signed',
  })
  assert.deepEqual(await update({}), { ...free, max_bytes: 5_000_000, delivery: 'signed' })
  assert.deepEqual((await post('limits', { account: 'grupo', max_images: 1 })).body, {
    status: 409,
    msg: 'La cuenta grupo es del servicio domainwatch',
  })
  for (const account of ['nadie', '', 'dueña']) {
    assert.deepEqual((await post('limits', { account })).body, { status: 404, msg: 'La cuenta no existe' })
  }
  await client.remove(String(second.body['hash']))
  const { key } = client
  assert.equal((await send(service, '/api/v1/admin/limits', { account: 'galería', api: key })).status, 403)
})

test('reports the state of the service', async () => {
  const { body } = await get('system')
  assert.ok(typeof body === 'object' && body !== null && 'figures' in body)
  const { figures, last_hour: hour, settings, ...rest }: Record<string, unknown> = { ...body }
  const shown: Record<string, unknown>[] = Array.isArray(settings) ? settings : []
  assert.ok(shown.length > 30)
  const level = shown.find(({ name }) => name === 'CATALEJO_LOG_LEVEL')
  assert.equal(level?.['value'], 'debug')
  assert.notEqual(level['from'], 'default')
  assert.partialDeepStrictEqual(rest, {
    status: 200,
    started: START,
    time_zone: 'America/Santiago',
    blobs: 'files',
    ready: { database: true, blobs: true },
    domains: 2,
    images: 2,
  })
  assert.equal(Object.fromEntries(Object.entries(figures ?? {}))['catalejo_database_waiting_writes'], 0)
  assert.deepEqual(
    Object.fromEntries(Object.entries(hour ?? {}))['catalejo_database_waiting_writes'],
    [0],
    'one of each minute',
  )
})

test('an administrator releases all claims of an account, and only of one that can have some', async () => {
  const { key } = await service.newKey('acaparadora', 'domainwatch')
  await stored(service, [record('tomado1'), record('tomado2')])
  const held = await claim(service, key, { starts: 'tomado' })
  assert.equal(held.count, 2)
  const released = { status: 200, account: 'acaparadora', count: 2 }
  assert.deepEqual((await post('release', { account: ' acaparadora ' })).body, released)
  assert.deepEqual((await post('release', { account: 'acaparadora' })).body, { ...released, count: 0 })
  assert.equal((await claim(service, service.domainKey, { starts: 'tomado' })).count, 2)
  assert.equal((await post('release', { account: 'nadie' })).status, 404)
  assert.equal((await post('release', { account: 'fotos' })).status, 409)
  assert.equal((await post('release', {})).status, 404)
  assert.equal(
    (await send(service, '/api/v1/admin/release', { account: 'acaparadora', api: key })).status,
    403,
  )
})
