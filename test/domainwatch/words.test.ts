/** Names are split into words of the dictionary, and found by them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { names, record, stored, storedNames, wholeRecords } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { ManualClock } from '../support/test-service.ts'

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

const found = async (of: TestService, query: Fields) => (await names(of, query)).toSorted()
const listed = (query: Fields) => found(service, query)

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
  const all = await wholeRecords(service, { fields: 'words', search: 'casa', order: 'name', sort: 'asc' })
  assert.deepEqual(
    all.map(({ name, words }) => [name, words]),
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

test('after a change of the dictionary names are split again', async () => {
  const recorded = ['casaverde', 'zorzal', 'casazorzal']
  await using first = await startService()
  await storedNames(first, recorded)
  assert.deepEqual(await found(first, { word: 'zorzal' }), [])
  await first.stop()
  await using second = await startService({ data: first.data, flags: { words: 'zorzal,-verde' } })
  assert.deepEqual(await found(second, { word: 'zorzal' }), ['casazorzal', 'zorzal'])
  assert.deepEqual(await found(second, { words: 2 }), ['casazorzal'])
})

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
