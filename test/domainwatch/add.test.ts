import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADD, add, names, record, records, stored } from '../support/domains.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const clock = new ManualClock('2026-01-15T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

const NAME = 'El campo domain debe ser un nombre de dominio .cl válido, sin el sufijo'
const BIT = (field: string) => `El campo ${field} debe ser 0 o 1`
const DATE = 'El campo date_reg debe ser una fecha y hora real con el formato YYYY-MM-DD HH:MM:SS'
const AGENT = 'El campo agent debe ser un texto de 1 a 100 caracteres'
const LENGTH = (name: string, length: number) =>
  `El campo length debe ser el número de caracteres de «${name}», ${length}`

/** A value of each JSON type, and what a message calls it. */
const TYPES: readonly [unknown, string][] = [
  ['1', 'un texto'],
  [1, 'un número'],
  [true, 'un valor lógico'],
  [null, 'null'],
  [[1], 'un arreglo'],
  [{ a: 1 }, 'un objeto'],
]
const FIELD_TYPES = {
  domain: 'un texto',
  length: 'un número',
  reserve: 'un número (0 o 1)',
  status: 'un número (0 o 1)',
  date_reg: 'un texto',
  agent: 'un texto',
}
const WRONG_TYPES = Object.entries(FIELD_TYPES).flatMap(([field, expected]) =>
  TYPES.filter(([, name]) => !expected.startsWith(name)).map(([value, name]): [unknown, string, string] => [
    { ...record('malo'), [field]: value },
    field,
    `El campo ${field} debe ser ${expected}, no ${name}`,
  ]),
)
const REQUIRED = ['domain', 'length', 'reserve', 'status', 'date_reg']

/** Bad records, each with the field and the message of its error. */
const FAULTY: readonly [unknown, string, string][] = [
  [record('malo.cl'), 'domain', NAME],
  [record(''), 'domain', NAME],
  [record(`ñ${'a'.repeat(56)}`), 'domain', NAME],
  [record('malo', { length: 5 }), 'length', LENGTH('malo', 4)],
  [record('ñandú', { length: 7 }), 'length', LENGTH('ñandú', 5)],
  [record('malo', { length: 4.5 }), 'length', LENGTH('malo', 4)],
  ...WRONG_TYPES,
  ...TYPES.slice(0, 5).map(([value, name]): [unknown, string, string] => [
    value,
    '',
    `El registro debe ser un objeto, no ${name}`,
  ]),
  ...REQUIRED.map((field): [unknown, string, string] => [
    { ...record('malo'), [field]: undefined },
    field,
    `Falta el campo ${field}`,
  ]),
  [record('malo', { reserve: 2 }), 'reserve', BIT('reserve')],
  [record('malo', { status: -1 }), 'status', BIT('status')],
  [record('malo', { date_reg: '2025-02-30 10:00:00' }), 'date_reg', DATE],
  [record('malo', { date_reg: '2025-02-03T10:00:00' }), 'date_reg', DATE],
  [record('malo', { agent: '' }), 'agent', AGENT],
  [record('malo', { agent: ' \t' }), 'agent', AGENT],
  [record('malo', { agent: '🔭'.repeat(101) }), 'agent', AGENT],
  [record('malo', { agent: 'a\0b' }), 'agent', AGENT],
  [record('malo', { agent: 'a\u202eb' }), 'agent', `${AGENT}, sin caracteres de control ni invisibles`],
  [record('malo', { agent: '\ud800' }), 'agent', AGENT],
]

test('each bad record is listed with its fault, and the good ones are not stored', async () => {
  const { status, body } = await add(service, [record('bueno'), ...FAULTY.map(([bad]) => bad)])
  assert.equal(status, 500)
  assert.deepEqual(body, {
    status: 500,
    count: 0,
    msg: `Hay ${FAULTY.length} registros con errores`,
    errors: FAULTY.map(([, field, msg], i) => ({ index: i + 1, field, msg })),
  })
  assert.deepEqual(await names(service, { search: 'bueno' }), [])
})

test('the first hundred of many bad records are listed', async () => {
  const data = Array.from({ length: 250 }, (_, i) => record(i % 2 === 0 ? `bueno${i}` : `malo.${i}`))
  const { body } = await add(service, data)
  const errors = Array.from({ length: 100 }, (_, i) => ({ index: 2 * i + 1, field: 'domain', msg: NAME }))
  assert.deepEqual(body, { status: 500, count: 0, msg: 'Hay 125 registros con errores', errors })
  assert.deepEqual(await names(service, { search: 'bueno' }), [])
})

const UNREADABLE: readonly [unknown, string][] = [
  ['', 'El parámetro data está vacío'],
  [' \n', 'El parámetro data está vacío'],
  ['hola', 'El parámetro data no es JSON válido'],
  ['[{"domain":"malo"', 'El parámetro data no es JSON válido'],
  ['{}', 'El parámetro data debe ser un arreglo de registros'],
  ['null', 'El parámetro data debe ser un arreglo de registros'],
  ['7', 'El parámetro data debe ser un arreglo de registros'],
  ['"[]"', 'El parámetro data debe ser un arreglo de registros'],
]

for (const encoding of ENCODINGS) {
  test(`data that is not a list of records stores nothing (${encoding})`, async () => {
    for (const [data, msg] of UNREADABLE)
      assert.deepEqual((await add(service, data, { encoding })).body, {
        status: 500,
        count: 0,
        msg,
        errors: [],
      })
    const query = { api: service.domainKey }
    const missing = await send(service, ADD, { otra: 'x' }, { encoding, query })
    assert.deepEqual(missing.body, { status: 500, count: 0, msg: 'Falta el parámetro data', errors: [] })
    assert.deepEqual((await add(service, [], { encoding })).body, { status: 200, count: 0 })
  })
}

test('data in the query is ignored', async () => {
  const query = { api: service.domainKey, data: [record('enconsulta')] }
  const { body } = await call(service, ADD, { method: 'POST', query })
  assert.deepEqual(body, { status: 500, count: 0, msg: 'Falta el parámetro data', errors: [] })
})

test('30 MB of opening brackets are rejected without a crash', async () => {
  const { body } = await add(service, '['.repeat(30_000_000), { encoding: 'multipart' })
  assert.deepEqual(body, { status: 500, count: 0, msg: 'El parámetro data no es JSON válido', errors: [] })
  assert.equal((await call(service, '/healthz')).status, 200)
})

test('names are trimmed, lower-cased, composed and decoded, and agents and dates stored as they are given', async () => {
  const agent = '🔭'.repeat(100)
  const [skipped, leapDay] = ['2025-09-07 00:30:00', '2024-02-29 23:59:59']
  await stored(service, [
    record(' Recorte ', { length: 7, revision: 1, discarded: 1, otro: {} }),
    record('n\u0303ame', { length: 4, agent }),
    record('xn--and-6ma2c', { length: 5 }),
    record('a'.repeat(63), { date_reg: leapDay }),
    // The time zone skips this hour.
    record(`ñ${'b'.repeat(55)}`, { date_reg: skipped }),
    record('áéíóúüñ'),
    record('4-x'),
  ])
  const found = new Map((await records(service)).map((each) => [each.name, each]))
  const wanted: readonly [name: string, length: number, fields?: object][] = [
    ['a'.repeat(63), 63, { date_reg: leapDay }],
    ['recorte', 7],
    ['ñame', 4, { agent }],
    ['ñandú', 5],
    [`ñ${'b'.repeat(55)}`, 56, { date_reg: skipped }],
    ['áéíóúüñ', 7],
    ['4-x', 3],
  ]
  for (const [name, length, fields] of wanted)
    assert.deepEqual(found.get(name), {
      name,
      length,
      agent: 'grupo',
      status: 1,
      reserved: 0,
      revision: 0,
      discarded: 0,
      date_reg: '2025-12-31 14:30:34',
      date_mod: '2026-01-15 09:00:00',
      ...fields,
    })
})
