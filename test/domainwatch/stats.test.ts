import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { add, record, stored, update } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { ManualClock } from '../support/test-service.ts'

const STATS = '/api/v1/domainwatch/stats'
const DAY = 24 * 60 * 60 * 1000

/** In Santiago it is still the day before. */
const clock = new ManualClock('2026-01-06T02:20:30Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

before(async () => {
  const { key } = await service.newKey('Equipo Sur', 'domainwatch')
  await service.newKey('Mirones', 'domainwatch')
  await stored(service, [
    record('alfa', { date_reg: '2026-01-02 23:59:59' }),
    record('beta', { date_reg: '2026-01-03 00:00:00', reserve: 1 }),
    record('gamma', { date_reg: '2026-01-03 23:59:59' }),
    record('ñandú', { date_reg: '2026-01-04 10:00:00', status: 0 }),
    record('casa-nueva', { date_reg: '2025-01-01 00:00:05', agent: 'Águila' }),
  ])
  clock.advance(1_000)
  await stored(service, [record('casa', { date_reg: '2026-01-05 22:00:00' })], { key })
  const marks = [
    { domain: 'alfa', revision: 1, discarded: 1 },
    { domain: 'gamma', status: 0 },
  ]
  assert.deepEqual((await update(service, marks)).body, { status: 200, count: 2 })
})

const stats = (query: Fields = {}) => call(service, STATS, { query: { api: service.domainKey, ...query } })

async function counts(query: Fields = {}) {
  const { status, body, text } = await stats(query)
  assert.equal(status, 200, text)
  // Its exact shape is asserted below.
  return body as Record<'days' | 'lengths' | 'agents' | 'totals' | 'feeds' | 'tags', Record<string, unknown>>
}

test('one complete response, exactly', async () => {
  const { text } = await stats({ from: '2026-01-02', to: '2026-01-05', agents: 1 })
  assert.equal(
    text,
    '{"status":200,"from":"2026-01-02","to":"2026-01-05",' +
      '"days":{"date":["2026-01-02","2026-01-03","2026-01-04","2026-01-05"],' +
      '"registered":[1,2,0,1],"deleted":[0,0,1,1]},' +
      '"lengths":{"length":[4,5],"count":[3,2]},' +
      '"agents":{"agent":["grupo"],"count":[4],"others":1},' +
      '"totals":{"records":5,"bought":3,"deleted":2,"reserved":1,"revision":1,"discarded":1},' +
      '"feeds":{"account":["Equipo Sur","Mirones","grupo"],' +
      '"last_add":["2026-01-05 23:20:31",null,"2026-01-05 23:20:30"]}}',
  )
})

test('the last 90 days, in the time zone of the service, and all records', async () => {
  const { days, lengths, agents, totals } = await counts()
  const date = days['date']
  assert.ok(Array.isArray(date))
  assert.equal(date.length, 90)
  assert.equal(date[0], '2025-10-08')
  assert.equal(date.at(-1), '2026-01-05')
  assert.deepEqual(lengths, { length: [4, 5, 6, 7, 8, 9, 10], count: [3, 2, 0, 0, 0, 0, 1] })
  assert.deepEqual(agents, { agent: ['grupo', 'Equipo Sur', 'Águila'], count: [4, 1, 1], others: 0 })
  assert.equal(totals['records'], 6)
})

const FILTERED: readonly [Fields, registered: number[], deleted: number[], records: number][] = [
  [{ status: 0 }, [0, 1, 0, 0], [0, 0, 1, 1], 2],
  [{ reserve: '' }, [0, 1, 0, 0], [0, 0, 0, 0], 1],
  [{ search: 'equipo', agent: '' }, [0, 0, 0, 1], [0, 0, 0, 0], 1],
  [{ ends: 'a', idn: 0 }, [1, 2, 0, 1], [0, 0, 0, 1], 5],
  [{ dis: '' }, [1, 0, 0, 0], [0, 0, 0, 0], 1],
  [{ search: 'nada' }, [0, 0, 0, 0], [0, 0, 0, 0], 0],
]

for (const [query, registered, deleted, records] of FILTERED) {
  test(`with ${JSON.stringify(query)}`, async () => {
    const { days } = await counts({ ...query, to: '2026-01-05' })
    const getLast = (name: string) => [days[name]].flat().slice(-4)
    assert.deepEqual(getLast('registered'), registered)
    assert.deepEqual(getLast('deleted'), deleted)
    const everything = { from: '0001-01-01', to: '0010-01-01' }
    assert.equal((await counts({ ...query, ...everything })).totals['records'], 0)
    assert.equal((await counts(query)).totals['records'], records)
  })
}

const MALFORMED: readonly [Fields, string][] = [
  [
    { from: '2026-02-30' },
    'El parámetro from debe ser un día (YYYY-MM-DD) o una fecha y hora (YYYY-MM-DD HH:MM:SS) que existan',
  ],
  [{ from: '2026-01-06' }, 'El parámetro from debe ser anterior o igual a to'],
  [{ from: '2025-02-01', to: '2025-01-31' }, 'El parámetro from debe ser anterior o igual a to'],
  [{ from: '2015-12-28', to: '2026-01-05' }, 'El parámetro from debe ser de a lo más 3660 días antes de to'],
  [{ agents: 0 }, 'El parámetro agents debe ser un entero entre 1 y 100'],
  [{ agents: 101 }, 'El parámetro agents debe ser un entero entre 1 y 100'],
  [{ tags: 0 }, 'El parámetro tags debe ser un entero entre 1 y 1000'],
  [{ tags: 1_001 }, 'El parámetro tags debe ser un entero entre 1 y 1000'],
  [{ length: 'x' }, 'El parámetro length debe ser un entero entre 1 y 63'],
  [{ agent: '' }, 'El parámetro agent necesita el parámetro search'],
]

test('the maximum number of days is the one in the error', async () => {
  const { status, text } = await stats({ from: '2015-12-29', to: '2026-01-05' })
  assert.equal(status, 200)
  assert.match(text, /"date":\["2015-12-29",("[\d-]{10}",){3659}"2026-01-05"\]/)
})

for (const [query, msg] of MALFORMED) {
  test(`${JSON.stringify(query)} is a 400 that names it`, async () => {
    assert.deepEqual((await stats(query)).body, { status: 400, msg })
  })
}

test('an add that changes nothing, or is empty, counts as activity', async () => {
  const lastAdds = async () => (await counts()).feeds['last_add']
  clock.advance(1_000)
  await stored(service, [record('beta', { date_reg: '2026-01-03 00:00:00', reserve: 1 })])
  assert.deepEqual(await lastAdds(), ['2026-01-05 23:20:31', null, '2026-01-05 23:20:32'])
  clock.advance(1_000)
  await stored(service, [])
  assert.deepEqual(await lastAdds(), ['2026-01-05 23:20:31', null, '2026-01-05 23:20:33'])
  clock.advance(1_000)
  assert.equal((await add(service, [record('mala', { length: 99 })])).status, 500)
  assert.deepEqual(await lastAdds(), ['2026-01-05 23:20:31', null, '2026-01-05 23:20:33'])
})

test('tags are listed on request: the most frequent first, of the matching records, also of old ones', async () => {
  const names = ['con-una', 'con-dos', 'con-tres', 'sin-nada']
  await stored(
    service,
    names.map((name, i) => record(name, { date_reg: `20${10 + i}-01-01 00:00:00` })),
  )
  const tagged = [
    { domain: 'con-una', tags: ['sur', 'playa', 'ñandú'] },
    { domain: 'con-dos', tags: ['playa'] },
    { domain: 'con-tres', tags: ['playa', 'norte'] },
  ]
  await update(service, tagged, { encoding: 'json' })
  const toTags = async (query: Fields) => (await counts(query)).tags
  const all = { tag: ['playa', 'norte', 'sur', 'ñandú'], count: [3, 1, 1, 1] }
  assert.equal(await toTags({}), undefined)
  assert.deepEqual(await toTags({ tags: 1_000 }), all)
  assert.deepEqual(await toTags({ tags: 1 }), { tag: ['playa'], count: [3] })
  assert.deepEqual(await toTags({ tags: 9, tag: 'sur' }), {
    tag: ['playa', 'sur', 'ñandú'],
    count: [1, 1, 1],
  })
  assert.deepEqual(await toTags({ tags: 9, search: 'sin-nada' }), { tag: [], count: [] })
  await update(service, [{ domain: 'con-una', tags: [] }], { encoding: 'json' })
  assert.deepEqual(await toTags({ tags: 9 }), { tag: ['playa', 'norte'], count: [2, 1] })
})

test('expired records are not counted, without any write', async () => {
  const before = await counts({ from: '2026-01-02', to: '2026-01-05' })
  assert.equal(before.totals['discarded'], 1)
  clock.advance(7 * DAY)
  const gone = await counts({ from: '2026-01-02', to: '2026-01-05' })
  assert.equal(gone.totals['discarded'], 0)
  assert.deepEqual(gone.days['registered'], [0, 2, 0, 1])
  assert.deepEqual(gone.lengths, { length: [4, 5], count: [2, 2] })
})
