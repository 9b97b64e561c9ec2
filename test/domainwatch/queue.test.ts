import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { names, record, removeRecords, stored, update, wholeRecords } from '../support/domains.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { claim, QUEUE, release } from '../support/queue.ts'
import { ManualClock, startService } from '../support/service.ts'

const MINUTE = 60_000
const WEEK = 7 * 24 * 60 * MINUTE
const START = '2026-01-15T12:00:00Z'

/** A deleted record; a higher number is a later deletion. */
const deleted = (name: string, second: number) =>
  record(name, { status: 0, date_reg: `2026-01-10 10:00:${String(second).padStart(2, '0')}` })

/** `n9` is the newest deletion of ten. */
const ten = Array.from({ length: 10 }, (_, i) => deleted(`n${i}`, i))

const clock = new ManualClock(START)
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const [{ key: ana }, { key: beto }] = [
  await service.newKey('ana', 'domainwatch'),
  await service.newKey('beto', 'domainwatch'),
]

/** The records of a test, which begins at `START` without others and without claims. */
async function begin(data: readonly unknown[]): Promise<void> {
  await removeRecords(service)
  clock.advance(Date.parse(START) - clock.now())
  await stored(service, data)
  await service.caughtUp()
}

test('claims the next records for each account, newest deletions first', async () => {
  await begin([...ten, record('comprado')])
  const first = await claim(service, ana, { status: 0, limit: 3 })
  assert.deepEqual(first.names, ['n9', 'n8', 'n7'])
  assert.deepEqual([first.remaining, first.until], [10, '2026-01-15 09:10:00'])
  const second = await claim(service, beto, { status: 0, limit: 4 })
  assert.deepEqual(second.names, ['n6', 'n5', 'n4', 'n3'])
  assert.equal(second.remaining, 7)
  const oldest = await claim(service, service.domainKey, { status: 0, limit: 2, sort: 'asc' })
  assert.deepEqual(oldest.names, ['n0', 'n1'])
  assert.equal(oldest.remaining, 3)
  assert.deepEqual(first.data[0][0], {
    name: 'n9',
    length: 2,
    agent: 'grupo',
    status: 0,
    reserved: 0,
    revision: 0,
    discarded: 0,
    date_reg: '2026-01-10 10:00:09',
    date_mod: '2026-01-15 09:00:00',
  })
})

test('extends the claims of the account before claiming new records, exactly until they expire', async () => {
  await begin(ten)
  await claim(service, ana, { limit: 3 })
  clock.advance(6 * MINUTE)
  const again = await claim(service, ana, { limit: 5 })
  assert.deepEqual(again.names, ['n9', 'n8', 'n7', 'n6', 'n5'])
  assert.equal(again.until, '2026-01-15 09:16:00')
  // All that it holds is extended, even if the answer has room for less.
  clock.advance(4 * MINUTE)
  assert.deepEqual((await claim(service, ana, { limit: 1 })).names, ['n9'])
  clock.advance(10 * MINUTE - 1)
  const others = await claim(service, beto, { limit: 100 })
  assert.deepEqual(others.names, ['n4', 'n3', 'n2', 'n1', 'n0'])
  assert.equal(others.remaining, 5)
  clock.advance(1)
  const expired = await claim(service, beto, { limit: 100 })
  assert.deepEqual(expired.names, ['n4', 'n3', 'n2', 'n1', 'n0', 'n9', 'n8', 'n7', 'n6', 'n5'])
  assert.equal(expired.remaining, 10)
  assert.deepEqual(await claim(service, ana, { limit: 100 }), {
    status: 200,
    count: 0,
    remaining: 0,
    until: '2026-01-15 09:30:00',
    data: [[]],
    names: [],
  })
})

test('accepts the filters and orders of lists, and extends only matching claims', async () => {
  await begin([...ten, deleted('casa', 30), deleted('caso', 31)])
  assert.deepEqual((await claim(service, ana, { order: 'name', limit: 1 })).names, ['n9'])
  await release(service, ana)
  assert.deepEqual((await claim(service, ana, { search: 'cas' })).names, ['caso', 'casa'])
  clock.advance(5 * MINUTE)
  const digits = await claim(service, ana, { digits: 1, limit: 2 }, 'json')
  assert.deepEqual([digits.names, digits.remaining], [['n9', 'n8'], 10])
  clock.advance(5 * MINUTE)
  assert.deepEqual((await claim(service, beto, { limit: 2 })).names, ['caso', 'casa'])
})

test('extends claims in the order of the list, before new ones, also where many others precede them', async () => {
  await begin(ten)
  await claim(service, ana, { limit: 3 })
  await stored(
    service,
    Array.from({ length: 40 }, (_, i) => deleted(`nuevo${i}`, 59)),
  )
  const { names } = await claim(service, ana, { limit: 5 })
  assert.deepEqual(names.slice(0, 3), ['n9', 'n8', 'n7'])
  assert.deepEqual(
    names.slice(3).map((name) => name.slice(0, 5)),
    ['nuevo', 'nuevo'],
  )
  const ascending = await claim(service, ana, { limit: 5, sort: 'asc' })
  assert.deepEqual(ascending.names.slice(0, 3), ['n7', 'n8', 'n9'])
})

test('omits marked records unless requested', async () => {
  await begin(ten)
  await update(service, [
    { domain: 'n9', revision: 1 },
    { domain: 'n8', discarded: 1 },
    { domain: 'n7', revision: 1, discarded: 1 },
  ])
  const rest = await claim(service, ana, { limit: 2 })
  assert.deepEqual([rest.names, rest.remaining], [['n6', 'n5'], 7])
  for (const [query, expected] of [
    [{ rev: '' }, ['n9']],
    [{ revision: 1 }, ['n9']],
    [{ dis: '' }, ['n8']],
    [{ discarded: 1 }, ['n8']],
    [{ rev: '', dis: '' }, ['n7']],
    [{ revision: 1, discarded: 1 }, ['n7']],
    [{ rev: '', revision: 0 }, []],
  ] as const) {
    const found = await claim(service, beto, query)
    assert.deepEqual([found.names, found.remaining], [expected, expected.length], JSON.stringify(query))
  }
})

const DECISIONS = [{ seen: 1 }, { revision: 1 }, { discarded: 1 }, { status: 0 }]
const OTHER_CHANGES = [{ note: 'pedir precio' }, { tags: ['casa'] }, { agent: 'otro' }, { reserve: 1 }, {}]

test('a decision of its holder ends a claim, another change of his or a decision of another account does not', async () => {
  await begin(ten)
  const heldByAna = async () => {
    const { body } = await call(service, QUEUE, { query: { api: ana } })
    return Object(body).data[0]?.count ?? 0
  }
  await claim(service, ana, { limit: 5 })
  for (const change of OTHER_CHANGES) await update(service, [{ domain: 'n9', ...change }], { key: ana })
  for (const decision of DECISIONS) await update(service, [{ domain: 'n9', ...decision }], { key: beto })
  assert.equal(await heldByAna(), 5)
  for (const [i, decision] of DECISIONS.entries()) {
    await update(service, [{ domain: `n${9 - i}`, ...decision, note: 'x' }], { key: ana })
    assert.equal(await heldByAna(), 4 - i, JSON.stringify(decision))
  }
  // A failed update changes nothing.
  const failed = await update(service, [{ domain: 'n5', seen: 1 }, { domain: 'ausente' }], { key: ana })
  assert.equal(failed.status, 500)
  assert.equal(await heldByAna(), 1)
})

test('remaining follows writes of all kinds', async () => {
  await begin(ten)
  const remaining = async (key = beto, query = {}) =>
    (await claim(service, key, { status: 0, limit: 1, ...query })).remaining
  assert.equal(await remaining(ana), 10)
  assert.equal(await remaining(), 9)
  await stored(service, [deleted('nuevo', 40), deleted('n0', 0), record('n1')])
  assert.equal(await remaining(), 9)
  await update(service, [{ domain: 'n2', status: 1 }])
  assert.equal(await remaining(), 8)
  assert.equal(await remaining(beto, { status: 1 }), 2)
  await update(service, [{ domain: 'n3', discarded: 1 }])
  assert.equal(await remaining(beto, { dis: '' }), 1)
  clock.advance(WEEK)
  assert.equal(await remaining(beto, { dis: '' }), 0)
  // More at a time than are processed one by one.
  const many = Array.from({ length: 1_100 }, (_, i) => deleted(`lote${i}`, i % 60))
  await stored(service, many)
  assert.equal(await remaining(beto, { search: 'lote' }), 1_100)
  assert.equal(await remaining(ana, { search: 'lote' }), 1_099)
})

test('a claim is released: one, several, all, or none', async () => {
  await begin(ten)
  await claim(service, ana, { limit: 6 })
  assert.deepEqual((await release(service, beto)).body, { status: 200, count: 0 })
  assert.deepEqual((await release(service, beto, ['n9'])).body, { status: 200, count: 0 })
  for (const [i, encoding] of ENCODINGS.entries()) {
    const { body } = await release(service, ana, [` N${9 - i} `, 'n0', 'ausente'], encoding)
    assert.deepEqual(body, { status: 200, count: 1 })
  }
  const byQuery = await call(service, QUEUE, { method: 'DELETE', query: { api: ana, data: '["n6"]' } })
  assert.deepEqual(byQuery.body, { status: 200, count: 1 })
  assert.deepEqual((await claim(service, beto, { limit: 5 })).names, ['n9', 'n8', 'n7', 'n6', 'n3'])
  assert.deepEqual((await release(service, ana, [])).body, { status: 200, count: 0 })
  const all = await call(service, QUEUE, { method: 'DELETE', query: { api: ana } })
  assert.deepEqual(all.body, { status: 200, count: 2 })
  assert.deepEqual((await claim(service, beto, { limit: 7 })).names.slice(5), ['n5', 'n4'])
})

test('reports which accounts hold records, how many and until when, without changing claims', async () => {
  await begin(ten)
  const held = async () => (await call(service, QUEUE, { query: { api: service.domainKey } })).body
  assert.deepEqual(await held(), { status: 200, count: 0, data: [] })
  await claim(service, ana, { limit: 2 })
  clock.advance(4 * MINUTE)
  await claim(service, beto, { limit: 3 })
  await claim(service, ana, { starts: 'n9' })
  const [byAna, byBeto] = [
    { account: 'ana', count: 2, until: '2026-01-15 09:14:00' },
    { account: 'beto', count: 3, until: '2026-01-15 09:14:00' },
  ]
  assert.deepEqual(await held(), { status: 200, count: 2, data: [byBeto, byAna] })
  await update(service, [{ domain: 'n9', seen: 1 }], { key: ana })
  assert.deepEqual(await held(), {
    status: 200,
    count: 2,
    data: [byBeto, { account: 'ana', count: 1, until: '2026-01-15 09:10:00' }],
  })
  clock.advance(6 * MINUTE)
  assert.deepEqual(await held(), { status: 200, count: 1, data: [byBeto] })
  await release(service, beto)
  assert.deepEqual(await held(), { status: 200, count: 0, data: [] })
})

test('malformed requests are rejected, and claim and release nothing', async () => {
  await begin(ten)
  for (const [fields, msg] of [
    [{ limit: 0 }, 'El parámetro limit debe ser un entero entre 1 y 100'],
    [{ limit: 101 }, 'El parámetro limit debe ser un entero entre 1 y 100'],
    [{ sort: 'up' }, 'El parámetro sort debe ser asc o desc'],
    [{ agent: '' }, 'El parámetro agent necesita el parámetro search'],
  ] as const) {
    for (const encoding of ENCODINGS) {
      const { body } = await send(service, QUEUE, fields, { encoding, query: { api: ana } })
      assert.deepEqual(body, { status: 400, msg })
    }
  }
  assert.equal((await claim(service, ana, { limit: 2 })).remaining, 10)
  const msg =
    'El parámetro data debe ser un arreglo de nombres de dominio .cl válidos, sin el sufijo, 1000 como máximo'
  const tooMany = Array.from({ length: 1_001 }, () => 'n9')
  for (const data of ['', '{', '{}', ['n9', 7], ['n9', 'n8.cl'], tooMany]) {
    for (const encoding of ENCODINGS) {
      assert.deepEqual((await release(service, ana, data, encoding)).body, { status: 400, msg })
    }
  }
  assert.deepEqual((await claim(service, beto, { limit: 1 })).names, ['n7'])
})

test('an account holds at most 100 records', async () => {
  const data = Array.from({ length: 130 }, (_, i) => deleted(`d${String(i).padStart(3, '0')}`, i % 60))
  await begin(data)
  for (let i = 0; i < 7; i++) {
    const got = await claim(service, ana, { limit: 100, pattern: `d?${i}?` })
    assert.equal(got.count, i < 3 ? 20 : 10)
  }
  assert.equal((await claim(service, ana, { limit: 100 })).count, 100)
  // It keeps what it holds, and gets no more.
  const unheld = await claim(service, beto, { limit: 100 })
  assert.deepEqual([unheld.count, unheld.remaining], [30, 30])
  await release(service, beto)
  const more = { status: 409, msg: 'La cuenta ya tiene 100 registros tomados' }
  const { body } = await send(service, QUEUE, { search: unheld.names[0] }, { query: { api: ana } })
  assert.deepEqual(body, more)
  // If nothing matches, that is the answer.
  assert.equal((await claim(service, ana, { search: 'ninguno' })).count, 0)
  await update(service, [{ domain: 'd050', revision: 1 }], { key: ana })
  assert.equal((await claim(service, ana, { search: unheld.names[0], limit: 2 })).count, 1)
})

test('list, export and queue show the holder of a record and the expiry', async () => {
  await begin(ten)
  await claim(service, ana, { limit: 1 })
  clock.advance(MINUTE)
  const own = await send(
    service,
    QUEUE,
    { limit: 1, fields: 'claimed_until,claimed_by' },
    { query: { api: beto } },
  )
  const held = { name: 'n8', claimed_by: 'beto', claimed_until: '2026-01-15 09:11:00' }
  assert.partialDeepStrictEqual(own.body, { count: 1, data: [[held]] })
  const fields = 'claimed_by,claimed_until'
  const listed = async () => {
    const found = await wholeRecords(service, { api: beto, fields, starts: 'n', order: 'name' })
    return found.slice(0, 3).map((each) => [each['name'], each['claimed_by'], each['claimed_until']])
  }
  const holders = [
    ['n9', 'ana', '2026-01-15 09:10:00'],
    ['n8', 'beto', '2026-01-15 09:11:00'],
    ['n7', null, null],
  ]
  assert.deepEqual(await listed(), holders)
  const csv = await call(service, '/api/v1/domainwatch/export', {
    query: { api: beto, fields, search: 'n8' },
  })
  assert.match(csv.text, /claimed_by,claimed_until\r?\n.*,beto,2026-01-15 09:11:00\r?\n$/)
  clock.advance(9 * MINUTE)
  assert.deepEqual(await listed(), [['n9', null, null], ...holders.slice(1)])
  await update(service, [{ domain: 'n8', seen: 1 }], { key: beto })
  assert.deepEqual(await listed(), [
    ['n9', null, null],
    ['n8', null, null],
    ['n7', null, null],
  ])
  assert.deepEqual((await claim(service, beto, { limit: 2 })).names, ['n9', 'n7'])
  assert.deepEqual((await claim(service, ana, { seen: 1 })).names, ['n8'])
})

test('claims end with their records', async () => {
  await begin(ten)
  await update(service, [{ domain: 'n9', discarded: 1 }])
  clock.advance(WEEK - 5 * MINUTE)
  assert.deepEqual((await claim(service, ana, { dis: '' })).names, ['n9'])
  clock.advance(5 * MINUTE)
  // Any write removes what has expired; the name is then recorded again, unclaimed.
  await stored(service, [deleted('n9', 9)])
  assert.deepEqual((await claim(service, beto, { limit: 1 })).names, ['n9'])
  assert.deepEqual((await names(service, { search: 'n9' })).length, 1)
})
