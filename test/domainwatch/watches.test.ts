import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { record, stored, update } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'
import { createWatch, watch, WATCHES, watchesOf, watchUntil } from '../support/watches.ts'
import { verify, WebhookReceiver, type Received } from '../support/webhook-receiver.ts'

const changesIn = ({ body }: Received) =>
  Object(body.data).changes.map((change: { event: string; record: { name: string } }) => {
    return `${change.event} ${change.record.name}`
  })

suite('watches', () => {
  const clock = new ManualClock(new Date().toISOString())
  let service: TestService
  before(async () => {
    service = await startService({ clock, flags: { 'webhook-networks': '127.0.0.0/8' } })
  })
  after(() => service[Symbol.asyncDispose]())
  const remove = (id: string, key = service.domainKey) =>
    call(service, WATCHES, { method: 'DELETE', query: { api: key, id } })

  test('a body of JSON may hold numbers and truth; what is neither text nor number is told, and makes no watch', async () => {
    const make = (body: unknown) =>
      call(service, WATCHES, {
        method: 'POST',
        query: { api: service.domainKey },
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const made = await make({ name: 'a', max_length: 4, dis: true, rev: false, search: null, atom: true })
    assert.equal(made.status, 200)
    const [watch] = await watchesOf(service)
    assert.deepEqual(watch?.filters, { max_length: '4', dis: '' })
    await remove(String(watch?.id))

    for (const odd of ['search', 'status', 'dis', 'atom', 'name']) {
      const body = { name: 'a', atom: true, [odd]: [1], unknown: [1] }
      const msg = `El parámetro ${odd} debe ser un texto o un número`
      assert.deepEqual((await make(body)).body, { status: 400, msg })
    }
    const msg = 'El parámetro status debe ser un entero entre 0 y 1'
    assert.deepEqual((await make({ name: 'a', atom: true, status: false })).body, { status: 400, msg })
    assert.deepEqual(await watchesOf(service), [])
  })

  test('a webhook tells of what comes to match, signed, once, from the making on', async () => {
    using receiver = await WebhookReceiver.start()
    await using reader = await EventReader.open(service, { api: service.domainKey })
    await stored(service, [record('viejo', { status: 0 })])
    // On PostgreSQL a change counts as made when all that were under way beside it have ended.
    await reader.next()
    const { id, secret, atom } = await watch(service, {
      name: 'Cortos y libres',
      max_length: '5',
      status: '0',
      url: receiver.url,
    })
    assert.equal(atom, 'null')
    await stored(service, [record('libre', { status: 0 }), record('tomado'), record('cinco')])
    await receiver.until(1)
    const [first] = receiver.received
    assert.ok(first !== undefined)
    verify(secret, first)
    assert.match(first.id, /^msg_[\w-]+$/)
    assert.equal(first.timestamp, Math.floor(clock.now() / 1000))
    assert.equal(first.body.type, 'domains.changed')
    const data = Object(first.body.data)
    assert.deepEqual([data.watch, data.count], [{ id, name: 'Cortos y libres' }, 1])
    assert.equal(data.changes[0].at, first.body.timestamp)
    assert.deepEqual(changesIn(first), ['added libre'])
    // It matches already; then it comes to match; then it no longer does.
    await update(service, [{ domain: 'libre', revision: 1 }])
    await stored(service, [record('cinco', { status: 0 })])
    await stored(service, [record('libre')])
    await stored(service, [record('otro', { status: 0 })])
    await watchUntil(service, id, ({ pending, last_delivery }) => pending === 0 && last_delivery !== null)
    while (receiver.received.flatMap(changesIn).length < 3) await receiver.until(receiver.received.length + 1)
    assert.deepEqual(receiver.received.flatMap(changesIn), ['added libre', 'changed cinco', 'added otro'])
    assert.equal((await remove(id)).status, 200)
  })

  test('with changes=all it tells of everything that happens to what matches', async () => {
    using receiver = await WebhookReceiver.start()
    const { id } = await watch(service, { search: 'todo', changes: 'all', url: receiver.url })
    await stored(service, [record('todo')])
    await update(service, [{ domain: 'todo', revision: 1 }])
    await update(service, [{ domain: 'todo', discarded: 1 }])
    while (receiver.received.flatMap(changesIn).length < 3) await receiver.until(receiver.received.length + 1)
    assert.deepEqual(receiver.received.flatMap(changesIn), ['added todo', 'changed todo', 'discarded todo'])
    await remove(id)
  })

  test('it may look for names that resemble one, beside all other filters', async () => {
    using receiver = await WebhookReceiver.start()
    const { id } = await watch(service, { similar: 'MiBanco.cl', status: '1', url: receiver.url })
    const near = ['m1banco', 'mi-banco', 'mibancochile', 'mibamco']
    const far = ['mibanco', 'panaderia', 'zzz']
    await stored(
      service,
      [...near, ...far].map((name) => record(name)),
    )
    await stored(service, [record('mibanc0', { status: 0 })])
    await stored(service, [record('mibanko')])
    while (receiver.received.flatMap(changesIn).length < 5) await receiver.until(receiver.received.length + 1)
    assert.deepEqual(
      new Set(receiver.received.flatMap(changesIn)),
      new Set([...near, 'mibanko'].map((name) => `added ${name}`)),
    )
    const [shown] = await watchesOf(service)
    assert.deepEqual(shown?.['filters'], { status: '1', similar: 'mibanco' })
    await remove(id)
  })

  test('many changes come in few deliveries, each of at most 50', async () => {
    using receiver = await WebhookReceiver.start()
    const { id } = await watch(service, { starts: 'lote', url: receiver.url })
    await stored(
      service,
      Array.from({ length: 430 }, (_, i) => record(`lote${i}`)),
    )
    await receiver.until(9)
    const names = receiver.received.flatMap(changesIn)
    assert.equal(new Set(names).size, 430)
    assert.equal(names.length, 430)
    assert.ok(receiver.received.every((one) => changesIn(one).length <= 50))
    assert.ok(receiver.received.length < 20)
    await remove(id)
  })

  test('a failed delivery comes again, later and later, with the same id and body; then it is given up', async () => {
    using receiver = await WebhookReceiver.start()
    receiver.answer = (response) => void response.writeHead(receiver.received.length === 2 ? 302 : 500).end()
    const { id, secret } = await watch(service, { search: 'falla', url: receiver.url })
    await stored(service, [record('falla1')])
    await receiver.until(1)
    const minutes = [1 / 12, 5, 30, 120, 300, 600, 840, 1_200, 1_440]
    for (const [failed, delay] of minutes.entries()) {
      const shown = await watchUntil(service, id, ({ attempts }) => attempts === failed + 1)
      assert.equal(shown['state'], 'active')
      const wait = Date.parse(String(shown['next_attempt'])) - clock.now()
      assert.ok(wait >= delay * 60_000 && wait <= delay * 72_000 + 1, `${wait} after ${failed + 1}`)
      assert.equal(shown['last_error'], `El receptor respondió ${failed === 1 ? 302 : 500}`)
      clock.advance(wait)
      await receiver.until(failed + 2)
    }
    const dead = await watchUntil(service, id, ({ state }) => state === 'dead')
    assert.deepEqual([dead['attempts'], dead['next_attempt'], dead['pending']], [10, null, 1])
    assert.equal(new Set(receiver.received.map((one) => `${one.id} ${one.text}`)).size, 1)
    assert.equal(new Set(receiver.received.map(({ timestamp }) => timestamp)).size, 10)
    for (const one of receiver.received) verify(secret, one)

    // A test that arrives brings it back to life, with what it still has to tell.
    receiver.answer = (response) => void response.writeHead(200).end('x'.repeat(1_000_000))
    const tested = await send(service, `${WATCHES}/test`, { id }, { query: { api: service.domainKey } })
    assert.deepEqual(tested.body, { status: 200, id, delivered: 1, code: 200, error: null })
    await receiver.until(12)
    assert.equal(receiver.received[10]?.body.type, 'watch.test')
    assert.equal(receiver.received[11]?.id, receiver.received[0]?.id)
    const alive = await watchUntil(service, id, ({ pending }) => pending === 0)
    assert.deepEqual([alive['state'], alive['last_error']], ['active', null])
    await remove(id)
  })

  test('410 ends it at once; Retry-After is heeded', async () => {
    using receiver = await WebhookReceiver.start()
    receiver.answer = (response) => void response.writeHead(503, { 'retry-after': '3600' }).end()
    const { id } = await watch(service, { search: 'nomas', url: receiver.url })
    await stored(service, [record('nomas')])
    const shown = await watchUntil(service, id, ({ attempts }) => attempts === 1)
    assert.equal(Date.parse(String(shown['next_attempt'])) - clock.now(), 3_600_000)
    receiver.answer = (response) => void response.writeHead(410).end()
    clock.advance(3_600_000)
    const dead = await watchUntil(service, id, ({ state }) => state === 'dead')
    assert.equal(dead['last_error'], 'El receptor respondió 410')
    await remove(id)
  })

  test('a receiver that answers nothing holds up nobody else', async () => {
    using silent = await WebhookReceiver.start()
    using receiver = await WebhookReceiver.start()
    silent.answer = () => {}
    const ids = []
    for (let i = 0; i < 20; i++) ids.push((await watch(service, { search: 'mudo', url: silent.url })).id)
    ids.push((await watch(service, { search: 'mudo', url: receiver.url })).id)
    const begin = performance.now()
    await stored(service, [record('mudo')])
    await receiver.until(1)
    // The silent ones take 20 s each.
    assert.ok(performance.now() - begin < 10_000)
    for (const id of ids) await remove(id)
  })

  test('an account sees and deletes its own, and may have 50; without a key it is told nothing', async () => {
    using receiver = await WebhookReceiver.start()
    using shutOut = await WebhookReceiver.start()
    const other = await service.newKey('vecino', 'domainwatch')
    const theirs = await watch(service, { search: 'ajeno', url: shutOut.url, atom: '' }, other.key)
    const own = await watch(service, { search: 'ajeno', url: receiver.url })
    // Both are being told by now.
    await stored(service, [record('ajeno1')])
    await Promise.all([receiver.until(1), shutOut.until(1)])
    await watchUntil(service, own.id, ({ pending }) => pending === 0)
    assert.deepEqual(
      (await watchesOf(service, other.key)).map(({ id }) => id),
      [theirs.id],
    )
    const gone = { status: 404, msg: 'La vigilancia no existe' }
    assert.deepEqual((await remove(own.id, other.key)).body, gone)
    const test = await send(service, `${WATCHES}/test`, { id: own.id }, { query: { api: other.key } })
    assert.deepEqual(test.body, gone)
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
    await remove(own.id)
    const many = await Promise.all(
      Array.from({ length: 55 }, () => createWatch(service, { name: 'n', atom: '' })),
    )
    const made = many.filter(({ status }) => status === 200)
    assert.equal(made.length, 50)
    assert.deepEqual(many.find(({ status }) => status !== 200)?.body, {
      status: 409,
      msg: 'La cuenta ya tiene 50 vigilancias',
    })
    for (const { body } of made) await remove(Object(body).id)
  })

  test('a watch may have a feed, at an address of its own, gone with it', async () => {
    const { id, atom, secret } = await watch(service, { name: 'Mi <feed>', search: 'lista', atom: '' })
    assert.equal(secret, 'null')
    assert.ok(atom.startsWith(`${service.url}/w/`) && atom.endsWith('.atom'))
    const read = (headers = {}) => call(service, atom.slice(service.url.length), { headers })
    const empty = await read()
    assert.equal(empty.status, 200)
    assert.match(empty.text, /<title>Dominios \.cl: Mi &lt;feed&gt;<\/title>/)
    await stored(
      service,
      Array.from({ length: 120 }, (_, i) => record(`lista${i}`)),
    )
    const last = await stored(service, [record('listaz')]).then(async () => {
      for (;;) {
        const feed = await read()
        if (feed.text.includes('listaz')) return feed
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })
    assert.equal(last.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
    assert.equal(last.text.match(/<entry>/g)?.length, 50)
    assert.match(last.text, /^[^]*?<entry>\n<id>[^<]*<\/id>\n<title>Registrado: listaz\.cl/)
    assert.equal((await read({ 'if-none-match': last.headers.get('etag') })).status, 304)
    assert.equal((await remove(id)).status, 200)
    assert.deepEqual((await read()).body, { status: 404, msg: 'La vigilancia no existe' })
  })

  test('what is shown, in all encodings of a request', async () => {
    for (const encoding of ENCODINGS) {
      const fields = { name: ' Ñandú ', agent: '', search: 'Ana', length: '4', atom: '1' }
      const made = await send(service, WATCHES, fields, { encoding, query: { api: service.domainKey } })
      assert.equal(made.status, 200, made.text)
      const [shown] = await watchesOf(service)
      assert.deepEqual(
        { ...shown, created: '' },
        {
          id: Object(made.body).id,
          name: 'Ñandú',
          filters: { agent: '', search: 'Ana', length: '4' },
          changes: 'new',
          created: '',
          url: null,
          atom: 1,
          state: 'active',
          pending: 0,
          attempts: 0,
          next_attempt: null,
          last_delivery: null,
          last_error: null,
          last_error_at: null,
        },
      )
      assert.ok(!JSON.stringify(shown).includes('whsec_'))
      await remove(Object(made.body).id)
    }
  })

  test('bad input is refused and stores nothing', async () => {
    const good = { name: 'x', url: 'https://example.cl/' }
    const url = 'El parámetro url debe ser una dirección http:// o https:// sin usuario ni contraseña'
    const priv = 'El parámetro url debe llevar a una dirección pública'
    for (const [fields, msg] of [
      [{ url: good.url }, 'Falta el parámetro name'],
      [{ ...good, name: ' ' }, 'El parámetro name debe ser un texto de 1 a 100 caracteres'],
      [{ name: 'x' }, 'Falta el parámetro url o el parámetro atom'],
      [{ ...good, url: 'ftp://example.cl' }, url],
      [{ ...good, url: 'https://a:b@example.cl' }, url],
      [{ ...good, url: 'no' }, url],
      [{ ...good, url: 'http://localhost/' }, priv],
      [{ ...good, url: 'http://10.0.0.1/' }, priv],
      [{ ...good, url: 'http://0xa000001/' }, priv],
      [{ ...good, url: 'http://[::ffff:169.254.169.254]/' }, priv],
      [{ ...good, url: 'http://[fd00:ec2::254]/' }, priv],
      [{ ...good, changes: 'some' }, 'El parámetro changes debe ser new o all'],
      [{ ...good, length: '99' }, 'El parámetro length debe ser un entero entre 1 y 63'],
      [{ ...good, similar: 'a b' }, 'El parámetro similar debe ser un nombre de dominio .cl'],
      [{ ...good, agent: '' }, 'El parámetro agent necesita el parámetro search'],
    ] as const) {
      assert.deepEqual((await createWatch(service, fields)).body, { status: 400, msg })
    }
    assert.deepEqual(await watchesOf(service), [])
  })
})
