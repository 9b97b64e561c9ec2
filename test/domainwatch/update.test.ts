import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, records, stored, update, UPDATE } from '../support/domains.ts'
import { ENCODINGS, send } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const clock = new ManualClock('2026-01-15T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

const one = async (name: string) =>
  (await records(service, { search: name })).find((each) => each.name === name)

for (const [field, value, shown] of [
  ['revision', 1, { revision: 1 }],
  ['discarded', 1, { discarded: 1 }],
  ['reserve', 1, { reserved: 1 }],
  ['status', 0, { status: 0 }],
  ['agent', 'Otra', { agent: 'Otra' }],
] as const) {
  test(`${field} alone changes, with date_mod; repeating it changes nothing`, async () => {
    const name = `marca-${field}`
    await stored(service, [record(name)])
    const before = await one(name)
    clock.advance(1_000)
    assert.deepEqual((await update(service, [{ domain: name, [field]: value }])).body, {
      status: 200,
      count: 1,
    })
    const marked = await one(name)
    assert.notEqual(marked?.date_mod, before?.date_mod)
    assert.deepEqual(marked, { ...before, ...shown, date_mod: marked?.date_mod })
    clock.advance(1_000)
    await update(service, [{ domain: name, [field]: value }])
    assert.deepEqual(await one(name), marked)
  })
}

test('a record without marks is counted and not changed; names are parsed as in add', async () => {
  await stored(service, [record('ñoño')])
  const before = await one('ñoño')
  clock.advance(1_000)
  const data = [{ domain: ' ÑOÑO ' }, { domain: 'xn--oo-yjab' }]
  assert.deepEqual((await update(service, data)).body, { status: 200, count: 1 })
  assert.deepEqual(await one('ñoño'), before)
})

const BIT = (field: string) => `El campo ${field} debe ser 0 o 1`
const AGENT = 'El campo agent debe ser un texto de 1 a 100 caracteres'
const NAME = 'El campo domain debe ser un nombre de dominio .cl válido, sin el sufijo'
const UNKNOWN = 'El dominio no está registrado en el servicio'

const WRONG_BITS: readonly [unknown, string][] = [
  ['1', 'un texto'],
  [true, 'un valor lógico'],
  [null, 'null'],
  [[1], 'un arreglo'],
  [{}, 'un objeto'],
]

test('all or nothing: every bad record is listed', async () => {
  await stored(service, [record('entera')])
  const good = { domain: 'entera', revision: 1 }
  const bad: readonly [unknown, string, string][] = [
    [{ revision: 1 }, 'domain', 'Falta el campo domain'],
    [{ domain: 'entera.cl' }, 'domain', NAME],
    [{ domain: 'entera', revision: 2 }, 'revision', BIT('revision')],
    [{ domain: 7 }, 'domain', 'El campo domain debe ser un texto, no un número'],
    [{ domain: 'entera', agent: '' }, 'agent', AGENT],
    [{ domain: 'entera', agent: 'a\u202eb' }, 'agent', `${AGENT}, sin caracteres de control ni invisibles`],
    [{ domain: 'entera', agent: null }, 'agent', 'El campo agent debe ser un texto, no null'],
    [7, '', 'El registro debe ser un objeto, no un número'],
    ...['revision', 'discarded', 'reserve', 'status'].flatMap((field) =>
      WRONG_BITS.map(([value, name]): [unknown, string, string] => [
        { domain: 'entera', [field]: value },
        field,
        `El campo ${field} debe ser un número (0 o 1), no ${name}`,
      ]),
    ),
  ]
  const { body } = await update(service, [good, ...bad.map(([each]) => each)])
  assert.deepEqual(body, {
    status: 500,
    count: 0,
    msg: `Hay ${bad.length} registros con errores`,
    errors: bad.map(([, field, msg], i) => ({ index: i + 1, field, msg })),
  })
  assert.equal((await one('entera'))?.revision, 0)
})

test('all or nothing: a domain that is not recorded', async () => {
  await stored(service, [record('presente')])
  const { body } = await update(service, [
    { domain: 'presente', revision: 1 },
    { domain: 'ausente', revision: 1, expect: { seen: 0 } },
    { domain: 'xn--ausnte-dva', revision: 1 },
  ])
  assert.deepEqual(body, {
    status: 500,
    count: 0,
    msg: 'Hay 2 registros con errores',
    errors: [
      { index: 1, field: 'domain', msg: UNKNOWN },
      { index: 2, field: 'domain', msg: UNKNOWN },
    ],
  })
  assert.equal((await one('presente'))?.revision, 0)
  // The first hundred of many are listed.
  const many = await update(
    service,
    Array.from({ length: 1_500 }, (_, i) => ({ domain: `ausente${i}` })),
  )
  const errors = Array.from({ length: 100 }, (_, index) => ({ index, field: 'domain', msg: UNKNOWN }))
  assert.deepEqual(many.body, { status: 500, count: 0, msg: 'Hay 1500 registros con errores', errors })
})

for (const encoding of ENCODINGS) {
  test(`unreadable data is a 400 (${encoding})`, async () => {
    for (const [data, msg] of [
      ['', 'El parámetro data está vacío'],
      ['{', 'El parámetro data no es JSON válido'],
      ['{}', 'El parámetro data debe ser un arreglo de registros'],
    ]) {
      const { body } = await update(service, data, { encoding })
      assert.deepEqual(body, { status: 400, count: 0, errors: [], msg })
    }
    const query = { api: service.domainKey }
    const missing = await send(service, UPDATE, {}, { encoding, query })
    assert.deepEqual(missing.body, { status: 400, count: 0, errors: [], msg: 'Falta el parámetro data' })
    assert.deepEqual((await update(service, [], { encoding })).body, { status: 200, count: 0 })
  })
}

test('50,000 marks are accepted in one call, 50,001 are not', async () => {
  await stored(service, [record('lote')])
  const marks = Array.from({ length: 50_000 }, (_, i) => ({ domain: 'lote', revision: i === 49_999 ? 1 : 0 }))
  const { body } = await update(service, [...marks, { domain: 'lote' }])
  const msg = 'El parámetro data admite 50000 registros como máximo'
  assert.deepEqual(body, { status: 400, count: 0, errors: [], msg })
  assert.deepEqual((await update(service, marks)).body, { status: 200, count: 1 })
  assert.equal((await one('lote'))?.revision, 1)
})
