import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { exportedNames, LIST, names, record, records, stored, update, walkNames } from '../support/domains.ts'
import { PLAIN_ORDERS, type PlainOrder } from '../support/expected-lists.ts'
import { call, type Fields } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

/** In Santiago it is 8:00: 30 days before is 31 January, from when on one can object. */
const clock = new ManualClock('2026-03-02T11:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

/** Of few dates and lengths, so that names break many ties; every second is reserved. Two more are freed on the next day. */
const KNOWN: readonly [domain: string, status: number, day: string][] = [
  ['a', 0, '01-01'],
  ['b', 1, '02-02'],
  ['ñ', 1, '01-03'],
  ['1', 0, '01-04'],
  ['ab', 1, '01-01'],
  ['b-a', 1, '01-02'],
  ['ñb', 0, '02-03'],
  ['1a', 1, '01-04'],
  ['aab', 1, '01-01'],
  ['zz', 0, '01-02'],
  ['xx', 1, '01-03'],
  ['wa', 1, '02-04'],
]
before(async () => {
  await stored(
    service,
    KNOWN.map(([domain, status, day], i) =>
      record(domain, { status, reserve: i % 2, date_reg: `2026-${day} 10:00:00` }),
    ),
  )
  clock.advance(24 * 60 * 60 * 1000)
  await update(service, [
    { domain: 'ab', status: 0 },
    { domain: 'xx', status: 0 },
  ])
  clock.advance(-24 * 60 * 60 * 1000)
})

/** Bought names come last in the order of deletions, and names to which one cannot object in that of objections. */
const ORDERS: Readonly<Record<PlainOrder, readonly [asc: string, desc: string]>> = {
  registered: ['a aab ab b-a zz xx ñ 1 1a b ñb wa', 'wa ñb b 1a 1 ñ xx zz b-a ab aab a'],
  deleted: ['a zz 1 ñb ab xx aab b-a ñ 1a b wa', 'xx ab ñb 1 zz a wa b 1a ñ b-a aab'],
  modified: ['1 1a a aab b b-a wa zz ñ ñb ab xx', 'xx ab ñb ñ zz wa b-a b aab a 1a 1'],
  name: ['1 1a a aab ab b b-a wa xx zz ñ ñb', 'ñb ñ zz xx wa b-a b ab aab a 1a 1'],
  length: ['1 a b ñ 1a ab wa xx zz ñb aab b-a', 'b-a aab ñb zz xx wa ab 1a ñ b a 1'],
  objection: ['b wa a aab ab b-a zz xx ñ 1 1a ñb', 'wa b ñb 1a 1 ñ xx zz b-a ab aab a'],
}

for (const order of PLAIN_ORDERS) {
  for (const [i, sort] of ['asc', 'desc'].entries()) {
    test(`list and export are sorted by ${order}, ${sort}`, async () => {
      const wanted = ORDERS[order][i]?.split(' ') ?? []
      assert.deepEqual(await names(service, { order, sort }), wanted)
      assert.deepEqual(await walkNames(service, { order, sort, limit: 5 }), wanted)
      assert.deepEqual(await exportedNames(service, { order, sort }), wanted)
      const reserved = wanted.filter((name) => KNOWN.findIndex(([domain]) => domain === name) % 2 === 1)
      assert.deepEqual(await exportedNames(service, { order, sort, reserve: '' }), reserved)
    })
  }
}

test('filters apply to bought records at the end of an order by deletion', async () => {
  assert.deepEqual(await names(service, { order: 'deleted', status: 1 }), [
    'wa',
    'b',
    '1a',
    'ñ',
    'b-a',
    'aab',
  ])
  assert.deepEqual(await names(service, { order: 'deleted', deleted_from: '2026-03-03' }), ['xx', 'ab'])
})

async function toCursor(query: Fields): Promise<string> {
  const { headers } = await call(service, LIST, { query: { api: service.domainKey, limit: 2, ...query } })
  return new URL(/<([^>]*)>/.exec(headers.get('link') ?? '')?.[1] ?? '').searchParams.get('cursor') ?? ''
}

test('a cursor belongs to its order', async () => {
  const msg = 'El parámetro cursor debe ser el de la cabecera Link de la página anterior'
  const status = async (query: Fields) => {
    const reply = await call(service, LIST, { query: { api: service.domainKey, ...query } })
    if (reply.status !== 200) assert.deepEqual(reply.body, { status: 400, msg })
    return reply.status
  }
  for (const order of PLAIN_ORDERS) {
    const cursor = await toCursor({ order })
    for (const other of PLAIN_ORDERS) {
      const wanted = other === order ? 200 : 400
      assert.equal(await status({ order: other, cursor }), wanted, `${order} under ${other}`)
    }
    assert.equal(await status({ cursor }), order === 'registered' ? 200 : 400, order)
  }
  const ofDefault = await toCursor({})
  assert.equal(await status({ cursor: ofDefault, order: 'registered' }), 200)
  const ofDeleted = await toCursor({ last_deleted: 5 })
  assert.equal(await status({ cursor: ofDeleted, last_deleted: 5, order: 'deleted' }), 200)
})

test('a forged cursor is rejected or finds nothing', async () => {
  const forged = (text: string) => Buffer.from(text).toString('base64url')
  const status = async (query: Fields) =>
    (await call(service, LIST, { query: { api: service.domainKey, ...query } })).status
  for (const [order, text, wanted] of [
    ['length', '2 a|||||length', 200],
    ['length', '99 a|||||length', 200],
    ['length', '02 a|||||length', 400],
    ['length', '2|||||length', 400],
    ['length', 'xy a|||||length', 400],
    ['name', '|||||name', 400],
    ['name', "0 a'; DROP TABLE domains|||||name", 200],
    ['name', '0 日本|||||name', 400],
    ['modified', 'a|||||modified', 400],
    ['modified', 'NaN b|||||modified', 400],
    ['modified', 'Infinity b|||||modified', 400],
    ['modified', '1 a|||||modificado', 400],
    ['modified', '1 a|||||modified|modified', 400],
    ['deleted', '1 a|||||bought', 200],
    ['registered', '1 a|||||bought', 400],
    ['name', '0 a\0|||||name', 400],
    ['num_x', '-1.5 a|||||num_x', 200],
    ['num_x', '1.50 a|||||num_x', 400],
    ['num_x', ' a|||||num_x', 400],
    ['num_x', '1 |||||num_x', 400],
    ['num_x', '1 a|||||num_y', 400],
    ['num_x', '1 a|||||without_num_x', 200],
    ['num_y', '1 a|||||without_num_x', 400],
  ] as const) {
    assert.equal(await status({ order, cursor: forged(text) }), wanted, text)
  }
})

test('an unknown order is refused', async () => {
  for (const order of ['', 'date_reg', 'Name', 'name,length', 'num_', 'num_X', 'without_num_x']) {
    const { body } = await call(service, LIST, { query: { api: service.domainKey, order } })
    assert.deepEqual(body, {
      status: 400,
      msg: 'El parámetro order debe ser uno de: registered, deleted, modified, name, length, objection, interest, o num_ y una clave',
    })
  }
})

test('several words must all occur, in any order; one word is a plain text', async () => {
  await stored(service, [record('casa-sol'), record('solcasa'), record('casa'), record('ñandú-sol')])
  const found = async (search: string) =>
    (await names(service, { search, order: 'name', sort: 'asc' })).join()
  assert.equal(await found('casa sol'), 'casa-sol,solcasa')
  assert.equal(await found(' SOL   casa.cl '), 'casa-sol,solcasa')
  assert.equal(await found('sol xn--'), 'ñandú-sol')
  assert.equal(await found('casa\tsol'), '')
  assert.equal(await found(' casa .cl'), 'casa,casa-sol,solcasa')
  const { body } = await call(service, LIST, {
    query: { api: service.domainKey, search: 'Sol CASA', limit: 1 },
  })
  assert.equal((body as { query: string }).query, 'sol casa')
  assert.equal((await records(service, { search: 'gru po', agent: '' })).length, 0)
})
