import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LIST, list, record, stored, update } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

before(async () => {
  const { key } = await service.newKey('Equipo Sur', 'domainwatch')
  await stored(service, [
    record('alfa', { date_reg: '2025-01-01 00:00:01' }),
    record('beta', { date_reg: '2025-01-01 00:00:02', reserve: 1 }),
    record('gamma', { date_reg: '2025-01-01 00:00:03', status: 0 }),
    record('ñandú', { date_reg: '2025-01-01 00:00:04', status: 0, reserve: 1 }),
    record('casa-nueva', { date_reg: '2025-01-01 00:00:05', agent: '100%_Águila' }),
  ])
  await stored(service, [record('casa', { date_reg: '2025-01-01 00:00:05' })], { key })
  const marks = [
    { domain: 'alfa', revision: 1 },
    { domain: 'beta', revision: 1, discarded: 1 },
    { domain: 'gamma', discarded: 1 },
  ]
  assert.deepEqual((await update(service, marks)).body, { status: 200, count: 3 })
})

const ALL = ['casa-nueva', 'casa', 'ñandú', 'gamma', 'beta', 'alfa']

const FILTERS: readonly [Fields, readonly string[]][] = [
  [{}, ALL],
  [{ sort: 'desc' }, ALL],
  [{ sort: 'asc' }, ALL.toReversed()],
  [{ status: 1 }, ['casa-nueva', 'casa', 'beta', 'alfa']],
  [{ status: 0 }, ['ñandú', 'gamma']],
  [{ reserve: '' }, ['ñandú', 'beta']],
  [{ reserve: '0' }, ['ñandú', 'beta']],
  [{ rev: '' }, ['beta', 'alfa']],
  [{ rev: 'no' }, ['beta', 'alfa']],
  [{ dis: '' }, ['gamma', 'beta']],
  [{ dis: '1', rev: '' }, ['beta']],
  [{ length: 4 }, ['casa', 'beta', 'alfa']],
  [{ length: 5 }, ['ñandú', 'gamma']],
  [{ length: 63 }, []],
  [{ length: 4, status: 1, reserve: '', rev: '', dis: '', sort: 'asc' }, ['beta']],
  [{ otro: 'x', __proto__: 'y' }, ALL],
  [{ search: 'casa' }, ['casa-nueva', 'casa']],
  [{ search: 'CASA' }, ['casa-nueva', 'casa']],
  [{ search: ' casa ' }, ['casa-nueva', 'casa']],
  [{ search: 'sa-nu' }, ['casa-nueva']],
  [{ search: 'casa.cl' }, ['casa-nueva', 'casa']],
  [{ search: 'CASA.CL' }, ['casa-nueva', 'casa']],
  [{ search: '.cl' }, ALL],
  [{ search: '' }, ALL],
  [{ search: 'ÑANDÚ' }, ['ñandú']],
  [{ search: 'n\u0303andu\u0301' }, ['ñandú']],
  [{ search: 'xn--and-6ma2c' }, ['ñandú']],
  [{ search: 'XN--AND-6MA2C.cl' }, ['ñandú']],
  [{ search: 'xn--and' }, ['ñandú']],
  [{ search: 'nandu' }, []],
  [{ search: '%' }, []],
  [{ search: '_' }, []],
  [{ search: 'c_sa' }, []],
  [{ search: '.' }, []],
  [{ search: "' OR 1=1 --" }, []],
  [{ search: '\0' }, []],
  [{ search: 'equipo', agent: '' }, ['casa']],
  [{ search: 'EQUIPO SUR', agent: '1' }, ['casa']],
  [{ search: '%_á', agent: '' }, ['casa-nueva']],
  [{ search: '_', agent: '' }, ['casa-nueva']],
  [{ search: 'grupo', agent: '', status: 0 }, ['ñandú', 'gamma']],
  [{ search: 'casa', agent: '' }, []],
  [{ limit: 2 }, ['casa-nueva', 'casa']],
  [{ limit: 2, sort: 'asc' }, ['alfa', 'beta']],
]

for (const [query, wanted] of FILTERS) {
  test(`list with ${JSON.stringify(query)}`, async () => {
    const body = await list(service, query)
    assert.deepEqual(
      body.data[0].map(({ name }) => name),
      wanted,
    )
    const search = query['search']
    assert.equal(body.query, typeof search === 'string' ? search.toLowerCase() : '')
  })
}

test('flags need no value and no equals sign', async () => {
  const reply = await call(service, `${LIST}?api=${service.domainKey}&dis&rev`)
  assert.match(reply.text, /^{"status":200,"count":1,"query":"","data":\[\[{"name":"beta",/)
})

test('of a repeated parameter the last counts', async () => {
  const query = new URLSearchParams([
    ['api', 'mala'],
    ['search', 'alfa'],
    ['search', 'gamma'],
    ['api', service.domainKey],
  ])
  const { body } = await call(service, LIST, { query })
  assert.equal(JSON.stringify(body).includes('"gamma"'), true)
  assert.equal(JSON.stringify(body).includes('"alfa"'), false)
})

test('one complete response, exactly', async () => {
  const { text, headers } = await call(service, LIST, { query: { api: service.domainKey, search: 'Nand' } })
  assert.equal(text, '{"status":200,"count":0,"query":"nand","data":[[]]}')
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(headers.get('link'), null)
})

const between = (name: string, min: number, max: number) =>
  `El parámetro ${name} debe ser un entero entre ${min} y ${max}`
const MALFORMED: readonly [string, readonly string[], string][] = [
  ['length', ['abc', '', '0', '64', '-1', '1.5', '1e1', ' 4', '٤'], between('length', 1, 63)],
  ['status', ['2', '-1', '', 'true', '01x'], between('status', 0, 1)],
  ['last_register', ['0', '1025', 'x', '', '9'.repeat(400)], between('last_register', 1, 1024)],
  ['last_deleted', ['0', '1025', 'x', ''], between('last_deleted', 1, 1024)],
  ['limit', ['0', '1025', 'x', '', '0x10'], between('limit', 1, 1024)],
  ['sort', ['up', '', 'ASC', 'desc '], 'El parámetro sort debe ser asc o desc'],
  [
    'cursor',
    ['', 'x', 'AAAA', '%', 'fHx8fA'],
    'El parámetro cursor debe ser el de la cabecera Link de la página anterior',
  ],
  ['search', ['a'.repeat(256)], 'El parámetro search debe ser un texto de 255 caracteres como máximo'],
  ['agent', [''], 'El parámetro agent necesita el parámetro search'],
]

for (const [name, values, msg] of MALFORMED) {
  test(`a wrong ${name} is a 400 that names it`, async () => {
    for (const value of values) {
      const { body } = await call(service, LIST, {
        query: { api: service.domainKey, search: '', [name]: value },
      })
      assert.deepEqual(body, { status: 400, msg }, value)
    }
  })
}

test('beyond 1,024 records there is a next page', async () => {
  const link = async () =>
    (await call(service, LIST, { query: { api: service.domainKey, starts: 'n-' } })).headers.get('link')
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => record(`n-${from + i}`))
  await stored(service, many(0, 1_024))
  assert.equal(await link(), null)
  await stored(service, many(1_024, 1))
  assert.notEqual(await link(), null)
  assert.equal((await list(service, { starts: 'n-' })).count, 1_024)
})
