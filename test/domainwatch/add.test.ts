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

/** A value of each JSON type, and what a message calls it. */
const TYPES: readonly [unknown, string][] = [
  ['1', 'un texto'],
  [1, 'un número'],
  [true, 'un valor lógico'],
  [null, 'null'],
  [[1], 'un arreglo'],
  [{ a: 1 }, 'un objeto'],
]
const FIELD_TYPES: readonly [string, string][] = [
  ['domain', 'un texto'],
  ['length', 'un número'],
  ['reserve', 'un número (0 o 1)'],
  ['status', 'un número (0 o 1)'],
  ['date_reg', 'un texto'],
  ['agent', 'un texto'],
]
const wrongTypes = (fields: readonly (readonly [string, string])[]) =>
  fields.flatMap(([field, expected]) =>
    TYPES.filter(([, name]) => !expected.startsWith(name)).map(
      ([value, name]): [string, unknown, string, string] => [
        `${name} as ${field}`,
        { ...record('malo'), [field]: value },
        field,
        `El campo ${field} debe ser ${expected}, no ${name}`,
      ],
    ),
  )
const WRONG_TYPES = [
  ...wrongTypes(FIELD_TYPES),
  ...TYPES.slice(0, 5).map(([value, name]): [string, unknown, string, string] => [
    `${name} as record`,
    value,
    '',
    `El registro debe ser un objeto, no ${name}`,
  ]),
]

const FAULTY: readonly [string, unknown, string, string][] = [
  ['a suffix', record('malo.cl'), 'domain', NAME],
  ['a dot', record('www.malo'), 'domain', NAME],
  ['an empty name', record(''), 'domain', NAME],
  ['a hyphen first', record('-malo'), 'domain', NAME],
  ['a hyphen last', record('malo-'), 'domain', NAME],
  ['hyphens in places 3 and 4', record('ma--lo'), 'domain', NAME],
  ['an underscore', record('ma_lo'), 'domain', NAME],
  ['a letter that .cl has not', record('garçon'), 'domain', NAME],
  ['64 octets', record('a'.repeat(64)), 'domain', NAME],
  ['64 octets in ASCII form', record(`ñ${'a'.repeat(56)}`), 'domain', NAME],
  ['an A-label of nothing', record('xn--'), 'domain', NAME],
  ['no name', { ...record('malo'), domain: undefined }, 'domain', 'Falta el campo domain'],
  [
    'a wrong length',
    record('malo', { length: 5 }),
    'length',
    'El campo length debe ser el número de caracteres de «malo», 4',
  ],
  [
    'a length in octets',
    record('ñandú', { length: 7 }),
    'length',
    'El campo length debe ser el número de caracteres de «ñandú», 5',
  ],
  [
    'a length with a fraction',
    record('malo', { length: 4.5 }),
    'length',
    'El campo length debe ser el número de caracteres de «malo», 4',
  ],
  ...WRONG_TYPES,
  ['no length', record('malo', { length: undefined }), 'length', 'Falta el campo length'],
  ['reserve 2', record('malo', { reserve: 2 }), 'reserve', BIT('reserve')],
  ['no reserve', record('malo', { reserve: undefined }), 'reserve', 'Falta el campo reserve'],
  ['status -1', record('malo', { status: -1 }), 'status', BIT('status')],
  ['no status', record('malo', { status: undefined }), 'status', 'Falta el campo status'],
  ['30 February', record('malo', { date_reg: '2025-02-30 10:00:00' }), 'date_reg', DATE],
  ['29 February of no leap year', record('malo', { date_reg: '2025-02-29 10:00:00' }), 'date_reg', DATE],
  ['hour 24', record('malo', { date_reg: '2025-02-03 24:00:00' }), 'date_reg', DATE],
  ['a T', record('malo', { date_reg: '2025-02-03T10:00:00' }), 'date_reg', DATE],
  ['a date alone', record('malo', { date_reg: '2025-02-03' }), 'date_reg', DATE],
  ['a date with white space', record('malo', { date_reg: ' 2025-02-03 10:00:00' }), 'date_reg', DATE],
  ['no date', record('malo', { date_reg: undefined }), 'date_reg', 'Falta el campo date_reg'],
  ['an empty agent', record('malo', { agent: '' }), 'agent', AGENT],
  ['an agent of white space', record('malo', { agent: ' \t' }), 'agent', AGENT],
  ['an agent of 101 characters', record('malo', { agent: 'a'.repeat(101) }), 'agent', AGENT],
  [
    'an agent of 101 characters in two units each',
    record('malo', { agent: '🔭'.repeat(101) }),
    'agent',
    AGENT,
  ],
  ...['\0', '\t', '\u007f', '\u0085', '\u200b', '\u200f', '\u2028', '\u202e', '\u2066', '\ufeff'].map(
    (character): [string, unknown, string, string] => [
      `an agent with U+${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      record('malo', { agent: `a${character}b` }),
      'agent',
      character === '\0' ? AGENT : `${AGENT}, sin caracteres de control ni invisibles`,
    ],
  ),
  ['half a character as agent', record('malo', { agent: '\ud800' }), 'agent', AGENT],
]

for (const [what, bad, field, msg] of FAULTY) {
  test(`a record with ${what} rejects its batch`, async () => {
    const { status, body } = await add(service, [record('bueno'), bad])
    assert.equal(status, 500)
    assert.deepEqual(body, {
      status: 500,
      count: 0,
      msg: 'Hay 1 registro con errores',
      errors: [{ index: 1, field, msg }],
    })
    assert.deepEqual(await names(service, { search: 'bueno' }), [])
  })
}

test('every bad record is listed, up to the first hundred', async () => {
  const data = Array.from({ length: 250 }, (_, i) => record(i % 2 === 0 ? `bueno${i}` : `malo.${i}`))
  const { body } = await add(service, data)
  const errors = Array.from({ length: 100 }, (_, i) => ({ index: 2 * i + 1, field: 'domain', msg: NAME }))
  assert.deepEqual(body, { status: 500, count: 0, msg: 'Hay 125 registros con errores', errors })
  assert.deepEqual(await names(service, { search: 'bueno' }), [])
})

const UNREADABLE: readonly [string, unknown, string][] = [
  ['empty', '', 'El parámetro data está vacío'],
  ['white space', ' \n', 'El parámetro data está vacío'],
  ['not JSON', 'hola', 'El parámetro data no es JSON válido'],
  ['cut off', '[{"domain":"malo"', 'El parámetro data no es JSON válido'],
  ['an object', '{}', 'El parámetro data debe ser un arreglo de registros'],
  ['null', 'null', 'El parámetro data debe ser un arreglo de registros'],
  ['a number', '7', 'El parámetro data debe ser un arreglo de registros'],
  ['a text', '"[]"', 'El parámetro data debe ser un arreglo de registros'],
  ['too deep', '['.repeat(100_000), 'El parámetro data no es JSON válido'],
]

for (const encoding of ENCODINGS) {
  for (const [what, data, msg] of UNREADABLE) {
    test(`data that is ${what} stores nothing (${encoding})`, async () => {
      const { body } = await add(service, data, { encoding })
      assert.deepEqual(body, { status: 500, count: 0, msg, errors: [] })
    })
  }

  test(`missing data (${encoding})`, async () => {
    const query = { api: service.domainKey }
    const { body } = await send(service, ADD, { otra: 'x' }, { encoding, query })
    assert.deepEqual(body, { status: 500, count: 0, msg: 'Falta el parámetro data', errors: [] })
  })

  test(`no records at all (${encoding})`, async () => {
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

test('names are trimmed, lower-cased, composed and decoded', async () => {
  await stored(service, [
    record(' Recorte ', { length: 7 }),
    record('n\u0303ame', { length: 4 }),
    record('xn--and-6ma2c', { length: 5 }),
    record('a'.repeat(63)),
    record(`ñ${'b'.repeat(55)}`),
    record('áéíóúüñ'),
    record('4-x'),
  ])
  const found = await records(service)
  const wanted: Record<string, number> = {
    ['a'.repeat(63)]: 63,
    recorte: 7,
    ñame: 4,
    ñandú: 5,
    [`ñ${'b'.repeat(55)}`]: 56,
    áéíóúüñ: 7,
    '4-x': 3,
  }
  for (const [name, length] of Object.entries(wanted)) {
    assert.deepEqual(
      found.find((each) => each.name === name),
      {
        name,
        length,
        agent: 'grupo',
        status: 1,
        reserved: 0,
        revision: 0,
        discarded: 0,
        date_reg: '2025-12-31 14:30:34',
        date_mod: '2026-01-15 09:00:00',
      },
    )
  }
})

test('a date that the time zone skips is stored as given, a leap day too', async () => {
  await stored(service, [
    record('salto', { date_reg: '2025-09-07 00:30:00' }),
    record('bisiesto', { date_reg: '2024-02-29 23:59:59' }),
  ])
  assert.equal((await records(service, { search: 'salto' }))[0]?.date_reg, '2025-09-07 00:30:00')
  assert.equal((await records(service, { search: 'bisiesto' }))[0]?.date_reg, '2024-02-29 23:59:59')
})

test('unknown fields of a record are ignored', async () => {
  await stored(service, [record('extra', { revision: 1, discarded: 1, otro: {} })])
  const [found] = await records(service, { search: 'extra' })
  assert.deepEqual([found?.revision, found?.discarded], [0, 0])
})

test('an agent may have 100 characters, each of two units of UTF-16', async () => {
  const agent = '🔭'.repeat(100)
  await stored(service, [record('telescopio', { agent })])
  assert.deepEqual(
    (await records(service, { search: 'telescopio' })).map((found) => found.agent),
    [agent],
  )
})
