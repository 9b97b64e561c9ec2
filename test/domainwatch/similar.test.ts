import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { record, stored, storedNames, update } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { ManualClock } from '../support/test-service.ts'

const SIMILAR = '/api/v1/domainwatch/similar'
const DAY = 24 * 60 * 60 * 1000

const clock = new ManualClock('2026-01-05T13:20:30Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

const NAMES = [
  'mibanco',
  'mibanc0',
  'mi-banco',
  'loginmibanco',
  'mibnco',
  'banco',
  'otracosa',
  'ñandú',
  'nandu',
]

before(async () => {
  await stored(service, [...NAMES.map((name) => record(name)), record('mibancó', { status: 0, reserve: 1 })])
})

const similar = (query: Fields) => call(service, SIMILAR, { query: { api: service.domainKey, ...query } })

interface Resembling {
  readonly name: string
  readonly reason: string
  readonly score: number
}

async function found(query: Fields): Promise<readonly Resembling[]> {
  const { status, body, text } = await similar(query)
  assert.equal(status, 200, text)
  // Its exact shape is asserted below.
  const { count, data } = body as { count: number; data: [Resembling[]] }
  assert.equal(data[0].length, count)
  return data[0]
}

test('max_distance excludes names whose changes cost more', async () => {
  const names = async (query: Fields) => (await found(query)).map(({ name }) => name)
  assert.deepEqual(await names({ domain: 'mibanco', max_distance: 2 }), ['mibancó', 'mi-banco', 'mibanc0'])
  assert.deepEqual(await names({ domain: 'mibanco', max_distance: 10 }), [
    'mibancó',
    'mi-banco',
    'mibanc0',
    'loginmibanco',
    'mibnco',
  ])
  const { status, body } = await similar({ domain: 'mibanco', max_distance: 41 })
  assert.equal(status, 400)
  assert.deepEqual(body, { status: 400, msg: 'El parámetro max_distance debe ser un entero entre 1 y 40' })
})

test('one complete response, exactly', async () => {
  const { text, headers } = await similar({ domain: 'MiBanco.cl', limit: 2 })
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(
    text,
    '{"status":200,"count":2,"query":"mibanco","data":[[' +
      '{"name":"mibancó","length":7,"agent":"grupo","status":0,"reserved":1,"revision":0,"discarded":0,' +
      '"date_reg":"2025-12-31 14:30:34","date_mod":"2026-01-05 10:20:30",' +
      '"reason":"accent","detail":"«ó» por «o»","score":0.986},' +
      '{"name":"mi-banco","length":8,"agent":"grupo","status":1,"reserved":0,"revision":0,"discarded":0,' +
      '"date_reg":"2025-12-31 14:30:34","date_mod":"2026-01-05 10:20:30",' +
      '"reason":"hyphenation","detail":"con guion","score":0.972}]]}',
  )
})

test('best first, ties by name, each with its reason', async () => {
  assert.deepEqual(
    (await found({ domain: 'mibanco' })).map(({ name, reason, score }) => [name, reason, score]),
    [
      ['mibancó', 'accent', 0.986],
      ['mi-banco', 'hyphenation', 0.972],
      ['mibanc0', 'homoglyph', 0.972],
      ['loginmibanco', 'word', 0.946],
      ['mibnco', 'omission', 0.875],
      ['banco', 'subdomain', 0.814],
    ],
  )
})

for (const domain of ['nandu', 'ñandú', ' ÑANDÚ.CL. ', 'xn--and-6ma2c.cl']) {
  test(`the name as «${domain}»`, async () => {
    const names = (await found({ domain })).map(({ name }) => name)
    assert.deepEqual(names, [domain === 'nandu' ? 'ñandú' : 'nandu'])
  })
}

test('nothing resembles it', async () => {
  const { text } = await similar({ domain: 'xyzxyzxyz' })
  assert.equal(text, '{"status":200,"count":0,"query":"xyzxyzxyz","data":[[]]}')
})

const TAKES_NAME = 'El parámetro domain debe ser un nombre de dominio .cl válido, con o sin el sufijo'
const TAKES_LIMIT = 'El parámetro limit debe ser un entero entre 1 y 1024'
const MALFORMED: readonly [Fields, string][] = [
  [{}, TAKES_NAME],
  [{ domain: '' }, TAKES_NAME],
  [{ domain: '.cl' }, TAKES_NAME],
  [{ domain: 'www.mibanco.cl' }, TAKES_NAME],
  [{ domain: 'a'.repeat(256) }, 'El parámetro domain debe ser un texto de 255 caracteres como máximo'],
  [{ domain: 'mibanco', limit: 0 }, TAKES_LIMIT],
  [{ domain: 'mibanco', limit: 1_025 }, TAKES_LIMIT],
  [{ domain: 'mibanco', limit: 'diez' }, TAKES_LIMIT],
]

for (const [query, msg] of MALFORMED) {
  test(`${JSON.stringify(query).slice(0, 60)} is a 400 that names it`, async () => {
    assert.deepEqual((await similar(query)).body, { status: 400, msg })
  })
}

test('new records are found immediately, and expired ones not', async () => {
  const names = async () => (await found({ domain: 'catalejo', limit: 2 })).map(({ name }) => name)
  assert.deepEqual(await names(), [])
  await storedNames(service, ['catalej0', 'cata-lejo', 'catalejos'])
  assert.deepEqual(await names(), ['cata-lejo', 'catalej0'])
  assert.equal((await update(service, [{ domain: 'cata-lejo', discarded: 1 }])).status, 200)
  assert.deepEqual(await names(), ['cata-lejo', 'catalej0'])
  clock.advance(7 * DAY)
  assert.deepEqual(await names(), ['catalej0', 'catalejos'])
})

test('concurrent searches return the same as one', async () => {
  const one = await found({ domain: 'mibanco' })
  const many = await Promise.all(
    // One runs, and of one account no more than 16 may wait.
    Array.from({ length: 17 }, (_, i) => found({ domain: 'mibanco', limit: i + 10 })),
  )
  for (const each of many) assert.deepEqual(each, one)
})

test('operators add phishing keywords and remove some', async () => {
  const flags = { 'phishing-keywords': 'zafiro,-login' }
  await using other = await startService({ clock, flags })
  await stored(other, [record('pariszafiro'), record('parris-zafiro'), record('parris-login')])
  const { body } = await call(other, SIMILAR, { query: { api: other.domainKey, domain: 'paris' } })
  const { data } = body as { data: [Resembling[]] }
  assert.deepEqual(
    data[0].map(({ name }) => name),
    ['pariszafiro', 'parris-zafiro'],
  )
})
