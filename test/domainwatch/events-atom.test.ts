import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EVENTS, record, stored, update } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'
import { startService } from '../support/service.ts'

const DATE = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
const URN = 'urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

const feed = (query: Fields = {}, headers = {}) =>
  call(service, EVENTS, { query: { api: service.domainKey, format: 'atom', ...query }, headers })
const links = (text: string) => [...text.matchAll(/<link rel="(.*?)" type="(.*?)" href="(.*?)"\/>/g)]
/** The address in an attribute. */
const href = (given: string | undefined) => (given ?? '').replaceAll('&amp;', '&')
const titles = (text: string) =>
  [...text.matchAll(/<entry>.*?<title>(.*?)<\/title>/gs)].map(([, title]) => title)

test('a feed without entries is valid', async () => {
  const { status, headers, text } = await feed()
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'application/atom+xml; charset=utf-8')
  assert.match(
    text,
    new RegExp(
      `^<\\?xml version="1.0" encoding="utf-8"\\?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="es">\n` +
        `<id>${URN}</id>\n<title>Dominios .cl: cambios</title>\n<updated>1970-01-01T00:00:00.000Z</updated>\n` +
        `<link rel="self" type="application/atom\\+xml" href="${service.url}${EVENTS}\\?[^"]+"/>\n` +
        `<link rel="alternate" type="text/html" href="${service.url}/console/dominios"/>\n` +
        `<author><name>Catalejo</name></author>\n<generator>Catalejo</generator>\n</feed>\n$`,
    ),
  )
})

test('entries are the newest matching changes, escaped, with stable ids', async () => {
  await stored(service, [record('uno', { agent: 'a<&>"\ufffe' })])
  await stored(service, [record('dos', { status: 0 })])
  await stored(service, [record('uno', { status: 0 })])
  await stored(service, [record('dos')])
  await update(service, [{ domain: 'dos', reserve: 1 }])
  await update(service, [{ domain: 'uno', discarded: 1 }])
  const whole = (await feed()).text
  assert.deepEqual(titles(whole), [
    'uno.cl: descartado',
    'dos.cl: cambió (reserva)',
    'dos.cl: inscrito de nuevo',
    'uno.cl: eliminado',
    'dos.cl: nuevo, libre',
    'uno.cl: nuevo',
  ])
  const entry =
    `<entry>\n<id>${URN}</id>\n<title>uno.cl: eliminado</title>\n<updated>${DATE}</updated>\n` +
    `<link rel="alternate" type="text/html" href="${service.url}/console/dominios\\?ficha=uno"/>\n` +
    '<author><name>grupo</name></author>\n' +
    '<content type="text">eliminado · agente: a&lt;&amp;&gt;&quot;\ufffd</content>\n</entry>'
  assert.match(whole, new RegExp(entry))
  const ids = [...whole.matchAll(new RegExp(URN, 'g'))].map(([id]) => id)
  assert.equal(new Set(ids).size, 7)
  const dates = [...whole.matchAll(new RegExp(`<updated>(${DATE})`, 'g'))].map(([, date]) => date)
  assert.equal(dates[0], dates[1], 'the feed is as new as its newest entry')
  const part = (await feed({ search: 'uno', limit: '2' })).text
  assert.deepEqual(titles(part), ['uno.cl: descartado', 'uno.cl: eliminado'])
  assert.deepEqual(
    [...part.matchAll(new RegExp(URN, 'g'))].slice(1).map(([id]) => id),
    [ids[1], ids[4]],
  )
})

test('links lead to the feed as requested, to the list with its filters and to the records', async () => {
  await stored(service, [record('ñu-co')])
  const query = { search: 'Ñu', status: '1', rev: '', limit: '3', length: '5' }
  await update(service, [{ domain: 'ñu-co', revision: 1 }])
  const { text } = await feed(query)
  const [self, alternate, ...entries] = links(text)
  assert.deepEqual([self?.[1], self?.[2]], ['self', 'application/atom+xml'])
  const address = new URL(href(self?.[3]))
  assert.equal(address.origin + address.pathname, service.url + EVENTS)
  assert.deepEqual(Object.fromEntries(address.searchParams), {
    api: service.domainKey,
    format: 'atom',
    ...query,
  })
  const again = await fetch(address)
  assert.deepEqual([again.status, await again.text()], [200, text])
  assert.equal(href(alternate?.[3]), `${service.url}/console/dominios?search=%C3%91u&length=5&status=1&rev=`)
  assert.deepEqual(
    entries.map(([, rel, type, url]) => [rel, type, url]),
    [['alternate', 'text/html', `${service.url}/console/dominios?ficha=%C3%B1u-co`]],
  )
  // Two spellings of the same filters share the entries, not the links.
  const other = links((await feed({ ...query, search: 'ñu' })).text)
  assert.ok(href(other[0]?.[3]).includes('search=%C3%B1u'))
})

test('304 until something changes', async () => {
  const first = await feed()
  const etag = first.headers.get('etag') ?? ''
  assert.match(etag, /^"[\w-]+"$/)
  const again = await feed({}, { 'if-none-match': etag })
  assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag])
  assert.equal(again.headers.get('content-length'), null)
  const head = await call(service, EVENTS, {
    method: 'HEAD',
    query: { api: service.domainKey, format: 'atom' },
  })
  assert.deepEqual([head.status, head.headers.get('etag')], [200, etag])
  await stored(service, [record('tres')])
  assert.equal((await feed({}, { 'if-none-match': etag })).status, 200)
})

test('many feeds of one account wait for each other, and not those of others', async () => {
  const { key } = await service.newKey('beto', 'domainwatch')
  await stored(
    service,
    Array.from({ length: 1_000 }, (_, i) => record(`cambio${i}`)),
  )
  const answered: string[] = []
  const all = Array.from({ length: 24 }, async (_, i) => {
    assert.equal((await feed({ search: `nada${i}` })).status, 200)
    answered.push('grupo')
  })
  await Promise.race(all)
  assert.equal((await feed({ api: key, search: 'nadie' })).status, 200)
  answered.push('beto')
  await Promise.all(all)
  assert.equal(answered.at(-1), 'grupo')
})

test('invalid limits are rejected', async () => {
  for (const limit of ['0', '201', 'x']) {
    assert.deepEqual((await feed({ limit })).body, {
      status: 400,
      msg: 'El parámetro limit debe ser un entero entre 1 y 200',
    })
  }
})
