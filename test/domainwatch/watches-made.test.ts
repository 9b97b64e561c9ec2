import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { createWatch, removeWatch, watch, WATCHES, getWatches, watchUntil } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const service = await startService({ flags: { 'webhook-networks': '127.0.0.0/8' } })
after(() => service[Symbol.asyncDispose]())

test('a JSON body may have numbers and booleans; other types are rejected', async () => {
  const make = (body: unknown) =>
    call(service, WATCHES, {
      method: 'POST',
      query: { api: service.domainKey },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const made = await make({ name: 'a', max_length: 4, dis: true, rev: false, search: null, atom: true })
  assert.equal(made.status, 200)
  const [watch] = await getWatches(service)
  assert.deepEqual(watch?.filters, { max_length: '4', dis: '' })
  await removeWatch(service, String(watch?.id))

  const odd: readonly [string, unknown, string][] = [
    ...['search', 'dis', 'atom', 'name'].map((name): [string, unknown, string] => [
      name,
      [1],
      'un texto, no un arreglo',
    ]),
    ['name', { de: 'x' }, 'un texto, no un objeto'],
    ['search', true, 'un texto, no un valor lógico'],
    ['status', [1], 'un número, no un arreglo'],
    ['status', false, 'un número, no un valor lógico'],
    ['status', 'no', 'un entero entre 0 y 1'],
  ]
  for (const [name, value, expected] of odd) {
    const { body } = await make({ name: 'a', atom: true, [name]: value, unknown: [1] })
    assert.deepEqual(body, { status: 400, msg: `El parámetro ${name} debe ser ${expected}` })
  }
  assert.deepEqual(await getWatches(service), [])
})

test('an account sees and deletes its own watches, at most 50, and without a valid key gets no notifications', async () => {
  using receiver = await WebhookReceiver.start()
  using shutOut = await WebhookReceiver.start()
  const other = await service.newKey('vecino', 'domainwatch')
  const theirs = await watch(service, { search: 'ajeno', url: shutOut.url, atom: '' }, other.key)
  const own = await watch(service, { search: 'ajeno', url: receiver.url })
  // Both receive notifications by now.
  await stored(service, [record('ajeno1')])
  await Promise.all([receiver.until(1), shutOut.until(1)])
  await watchUntil(service, own.id, ({ pending }) => pending === 0)
  await service.revokeKey(other.id)
  const path = new URL(theirs.atom).pathname
  assert.equal((await call(service, path)).status, 404)
  await stored(service, [record('ajeno2')])
  await receiver.until(2)
  await watchUntil(service, own.id, ({ pending }) => pending === 0)
  await stored(service, [record('ajeno3')])
  await receiver.until(3)
  assert.deepEqual(
    receiver.received.map(({ body }) => Object(body.data).watch.id),
    [own.id, own.id, own.id],
  )
  assert.equal(shutOut.received.length, 1)
  await removeWatch(service, own.id)
  const many = await Promise.all(
    Array.from({ length: 55 }, () => createWatch(service, { name: 'n', atom: '' })),
  )
  const made = many.filter(({ status }) => status === 200)
  assert.equal(made.length, 50)
  assert.deepEqual(many.find(({ status }) => status !== 200)?.body, {
    status: 409,
    msg: 'La cuenta ya tiene 50 alertas',
  })
  // Wrong input is reported first.
  for (const wrong of [{ name: 'n' }, { name: 'n', to: 'fax:1' }, { name: 'n', to: 'telegram:1' }])
    assert.equal((await createWatch(service, wrong)).status, 400)
  for (const { body } of made) await removeWatch(service, Object(body).id)
})

test('a watch may have a feed with its own URL, removed with the watch', async () => {
  const { id, atom, secret } = await watch(service, { name: 'Mi <feed>', search: 'lista', atom: '' })
  assert.equal(secret, 'null')
  assert.ok(atom.startsWith(`${service.url}/w/`) && atom.endsWith('.atom'))
  const read = (headers = {}) => call(service, atom.slice(service.url.length), { headers })
  const empty = await read()
  assert.equal(empty.status, 200)
  assert.match(empty.text, /<title>Dominios \.cl: Mi &lt;feed&gt;<\/title>/)
  assert.deepEqual(
    [...empty.text.matchAll(/<link rel="(.*?)" .*?href="(.*?)"\/>/g)].map(([, rel, href]) => [rel, href]),
    [
      ['self', atom],
      ['alternate', `${service.url}/console/dominios?search=lista`],
    ],
  )
  await stored(
    service,
    Array.from({ length: 120 }, (_, i) => record(`lista${i}`)),
  )
  await stored(service, [record('listaz')])
  let last = await read()
  await eventually(async () => {
    last = await read()
    return last.text.includes('listaz')
  }, 'the newest name in the feed')
  assert.equal(last.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
  assert.equal(last.text.match(/<entry>/g)?.length, 50)
  assert.match(last.text, /^[^]*?<entry>\n<id>[^<]*<\/id>\n<title>listaz\.cl: nuevo/)
  assert.ok(last.text.includes(`href="${service.url}/console/dominios?ficha=listaz"/>`))
  assert.equal((await read({ 'if-none-match': last.headers.get('etag') })).status, 304)
  assert.equal((await removeWatch(service, id)).status, 200)
  assert.deepEqual((await read()).body, { status: 404, msg: 'La alerta no existe' })
})

test('creation returns the same in all encodings', async () => {
  for (const encoding of ENCODINGS) {
    const fields = { name: ' Ñandú ', agent: '', search: 'Ana', length: '4', atom: '1' }
    const made = await send(service, WATCHES, fields, { encoding, query: { api: service.domainKey } })
    assert.equal(made.status, 200, made.text)
    const [shown] = await getWatches(service)
    assert.deepEqual(
      { ...shown, created: '' },
      {
        id: Object(made.body).id,
        name: 'Ñandú',
        filters: { agent: '', search: 'Ana', length: '4' },
        changes: 'new',
        owner: 'grupo',
        shared: 0,
        paused: 0,
        created: '',
        url: null,
        to: null,
        language: 'es',
        digest: null,
        next_digest: null,
        atom: 1,
        state: 'active',
        pending: 0,
        attempts: 0,
        next_attempt: null,
        last_delivery: null,
        last_error: null,
        last_error_at: null,
        destinations: [],
      },
    )
    assert.ok(!JSON.stringify(shown).includes('whsec_'))
    await removeWatch(service, Object(made.body).id)
  }
})

test('invalid input is rejected and stores nothing', async () => {
  const good = { name: 'x', url: 'https://example.cl/' }
  const url = 'El parámetro url debe ser una dirección http:// o https:// sin usuario ni contraseña'
  const priv = 'El parámetro url debe llevar a una dirección pública'
  for (const [fields, msg] of [
    [{ url: good.url }, 'Falta el parámetro name'],
    [{ ...good, name: ' ' }, 'El parámetro name debe ser un texto de 1 a 100 caracteres'],
    [{ name: 'x' }, 'Falta uno de los parámetros url, to o atom'],
    [{ ...good, url: 'ftp://example.cl' }, url],
    [{ ...good, url: 'https://a:b@example.cl' }, url],
    [{ ...good, url: 'no' }, url],
    [{ ...good, url: 'http://localhost/' }, priv],
    [{ ...good, url: 'http://10.0.0.1/' }, priv],
    [{ ...good, url: 'http://[2600:1f18::5efe:10.0.0.1]/' }, priv],
    [{ ...good, changes: 'some' }, 'El parámetro changes debe ser uno de: new, all, dns, new,dns, all,dns'],
    [{ ...good, length: '99' }, 'El parámetro length debe ser un entero entre 1 y 63'],
    [{ ...good, similar: 'a b' }, 'El parámetro similar debe ser un nombre de dominio .cl'],
    [
      { ...good, similar: Array.from({ length: 51 }, (_, i) => `a${i}`).join(',') },
      'El parámetro similar debe ser una lista de 1 a 50 nombres de dominio .cl, separados por comas',
    ],
    [{ ...good, max_distance: '41' }, 'El parámetro max_distance debe ser un entero entre 1 y 40'],
    [{ ...good, agent: '' }, 'El parámetro agent necesita el parámetro search'],
  ] as const) {
    assert.deepEqual((await createWatch(service, fields)).body, { status: 400, msg })
  }
  assert.deepEqual(await getWatches(service), [])
})
