/** Names are split into words of the dictionary, and found by them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { ManualClock } from '../support/test-service.ts'

const LIST = '/api/v1/domainwatch/list'
const STATS = '/api/v1/domainwatch/stats'

const clock = new ManualClock('2026-03-20T15:00:00Z')
const service = await startService({ clock, flags: { words: 'kuchen,puyuhuapi,-gatos' } })
after(() => service[Symbol.asyncDispose]())

const NAMES = [
  'casa',
  'casas',
  'casaverde',
  'casasenventa',
  'casa-verde',
  'jardín',
  'kuchenpuyuhuapi',
  'gatosverdes',
  'casa24',
  'xqzwcasa',
]

before(() =>
  stored(
    service,
    NAMES.map((name) => record(name, { date_reg: '2025-01-01 00:00:00' })),
  ),
)

async function listed(query: Fields): Promise<readonly string[]> {
  const { status, body, text } = await call(service, LIST, { query: { api: service.domainKey, ...query } })
  assert.equal(status, 200, text)
  const { data } = body as { data: readonly [readonly { name: string }[]] }
  return data[0].map(({ name }) => name).toSorted()
}

test('names are found by the number of their words', async () => {
  assert.deepEqual(await listed({ words: 1 }), ['casa', 'casas', 'jardín'])
  assert.deepEqual(await listed({ words: 2 }), ['casa-verde', 'casaverde', 'kuchenpuyuhuapi'])
  assert.deepEqual(await listed({ words: 3 }), ['casasenventa'])
  assert.deepEqual(await listed({ words: 6 }), [])
})

test('names are found by whole words, not by substrings', async () => {
  assert.deepEqual(await listed({ word: 'casa' }), ['casa', 'casa-verde', 'casaverde'])
  assert.deepEqual(await listed({ word: 'CASAS' }), ['casas', 'casasenventa'])
  assert.deepEqual(await listed({ word: 'jardín' }), ['jardín'])
  assert.deepEqual(await listed({ word: 'cas' }), [])
  assert.deepEqual(await listed({ word: 'casa', words: 2, hyphen: 1 }), ['casa-verde'])
})

test('records have their words on request', async () => {
  const query = { api: service.domainKey, fields: 'words', search: 'casa', order: 'name', sort: 'asc' }
  const { body } = await call(service, LIST, { query })
  const { data } = body as { data: readonly [readonly { name: string; words: readonly string[] }[]] }
  assert.deepEqual(
    data[0].map(({ name, words }) => [name, words]),
    [
      ['casa', ['casa']],
      ['casa-verde', ['casa', 'verde']],
      ['casa24', []],
      ['casas', ['casas']],
      ['casasenventa', ['casas', 'en', 'venta']],
      ['casaverde', ['casa', 'verde']],
      ['xqzwcasa', []],
    ],
  )
})

test('the operator adds and removes words', async () => {
  assert.deepEqual(await listed({ word: 'puyuhuapi' }), ['kuchenpuyuhuapi'])
  assert.deepEqual(await listed({ word: 'gatos' }), [])
})

test('export and statistics use the same words', async () => {
  assert.deepEqual(await exported(service, { word: 'verde' }), ['casa-verde', 'casaverde'])
  const { body } = await call(service, STATS, { query: { api: service.domainKey, words: 1 } })
  assert.equal((body as { totals: { records: number } }).totals.records, 3)
})

const REFUSED: readonly [Fields, msg: string][] = [
  [{ words: 0 }, 'El parámetro words debe ser un entero entre 1 y 6'],
  [{ words: 7 }, 'El parámetro words debe ser un entero entre 1 y 6'],
  [{ word: '' }, 'El parámetro word debe ser una palabra de 1 a 31 letras'],
  [{ word: 'casa verde' }, 'El parámetro word debe ser una palabra de 1 a 31 letras'],
  [{ word: 'casa*' }, 'El parámetro word debe ser una palabra de 1 a 31 letras'],
  [{ word: 'ñ'.repeat(32) }, 'El parámetro word debe ser una palabra de 1 a 31 letras'],
]
for (const [query, msg] of REFUSED) {
  test(`${JSON.stringify(query)} is refused`, async () => {
    const answer = await call(service, LIST, { query: { api: service.domainKey, ...query } })
    assert.deepEqual([answer.status, answer.body], [400, { status: 400, msg }])
  })
}

test('after a change of the dictionary names are split again', async () => {
  const names = ['casaverde', 'zorzal', 'casazorzal']
  await using first = await startService()
  await stored(
    first,
    names.map((name) => record(name)),
  )
  assert.deepEqual(await exported(first, { word: 'zorzal' }), [])
  await first.stop()
  await using second = await startService({ data: first.data, flags: { words: 'zorzal,-verde' } })
  assert.deepEqual(await exported(second, { word: 'zorzal' }), ['casazorzal', 'zorzal'])
  assert.deepEqual(await exported(second, { words: 2 }), ['casazorzal'])
})

async function exported(of: TestService, query: Fields): Promise<readonly string[]> {
  const { text } = await call(of, '/api/v1/domainwatch/export', {
    query: { api: of.domainKey, format: 'ndjson', ...query },
  })
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as { name: string }).name).toSorted()
}

test('statistics list the words that rose this week compared with the twelve before', async () => {
  const days: Readonly<Record<string, readonly string[]>> = {
    '2026-03-19': ['hotelnorte', 'hotelazul', 'hotelgrande'],
    '2026-03-18': ['pizzaroja', 'pizzaverde', 'pizzagrande', 'pizza-pizza'],
    '2026-02-10': ['hotelrojo', 'hotelverde', 'hoteles'],
    '2025-11-01': ['vieja', 'viejaroja', 'viejagrande'],
  }
  const given = Object.entries(days).flatMap(([day, names]) =>
    names.map((name) => record(name, { date_reg: `${day} 10:00:00` })),
  )
  await stored(service, given)
  const { body } = await call(service, STATS, { query: { api: service.domainKey, rising: 3 } })
  assert.deepEqual((body as { words: unknown }).words, {
    word: ['pizza', 'hotel'],
    week: [4, 3],
    mean: [0, 0.17],
  })
  const without = await call(service, STATS, { query: { api: service.domainKey } })
  assert.equal('words' in (without.body as object), false)
})
