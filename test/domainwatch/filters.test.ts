import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { localDateTime } from '../../src/lib/dates.ts'
import { LIST, names, record, stored, update, walkNames } from '../support/domains.ts'
import { call, type Fields } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const clock = new ManualClock('2026-01-05T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

const ALL = ['ñandú', 'x9', 'casa-casa', 'a1', 'mi-casa', 'casa2', 'casa']

const AGENTS: Readonly<Record<string, string>> = { casa: 'Grupo Sur', 'mi-casa': 'Águila', x9: 'grupo sur' }
const without = (...excluded: readonly string[]) => ALL.filter((name) => !excluded.includes(name))

before(async () => {
  const day = (i: number) => `2025-03-0${i + 1} 10:00:00`
  await stored(
    service,
    ALL.toReversed().map((name, i) => record(name, { date_reg: day(i), agent: AGENTS[name] })),
  )
  await update(service, [
    { domain: 'casa', tags: ['basura', 'a'] },
    { domain: 'a1', tags: ['a'] },
  ])
})

const FILTERS: readonly [Fields, readonly string[]][] = [
  [{ starts: 'casa' }, ['casa-casa', 'casa2', 'casa']],
  [{ starts: 'CASA2.cl' }, ['casa2']],
  [{ starts: 'Ñ' }, ['ñandú']],
  [{ starts: 'xn--' }, ['ñandú']],
  [{ starts: 'xn--and-6ma2c' }, ['ñandú']],
  [{ starts: '' }, ALL],
  [{ starts: '*' }, []],
  [{ starts: 'cas?' }, []],
  [{ ends: 'casa' }, ['casa-casa', 'mi-casa', 'casa']],
  [{ ends: '2.cl' }, ['casa2']],
  [{ ends: 'dú' }, ['ñandú']],
  [{ ends: '[a]' }, []],
  [{ starts: 'casa', ends: 'casa' }, ['casa-casa', 'casa']],
  [{ pattern: '*' }, ALL],
  [{ pattern: '??' }, ['x9', 'a1']],
  [{ pattern: '?????' }, ['ñandú', 'casa2']],
  [{ pattern: 'casa*' }, ['casa-casa', 'casa2', 'casa']],
  [{ pattern: 'Casa?.CL' }, ['casa2']],
  [{ pattern: '*a*-*a' }, ['casa-casa']],
  [{ pattern: '*i?c*' }, ['mi-casa']],
  [{ pattern: 'casa' }, ['casa']],
  [{ pattern: 'xn--a*' }, ['ñandú']],
  [{ pattern: '[a-z]*' }, []],
  [{ pattern: 'cas_' }, []],
  [{ pattern: 'cas%' }, []],
  [{ pattern: 'casa\0*' }, []],
  [{ from: '2025-03-06' }, ['ñandú', 'x9']],
  [{ to: '2025-03-02' }, ['casa2', 'casa']],
  [{ from: '2025-03-02', to: '2025-03-02' }, ['casa2']],
  [{ from: '2025-03-02 10:00:00', to: '2025-03-03 09:59:59' }, ['casa2']],
  [{ from: '2025-03-02 10:00:01', to: '2025-03-03 10:00:00' }, ['mi-casa']],
  [{ from: '2025-03-03', to: '2025-03-02' }, []],
  [{ min_length: 6 }, ['casa-casa', 'mi-casa']],
  [{ max_length: 2 }, ['x9', 'a1']],
  [{ min_length: 4, max_length: 5 }, ['ñandú', 'casa2', 'casa']],
  [{ min_length: 5, max_length: 4 }, []],
  [{ hyphen: 1 }, ['casa-casa', 'mi-casa']],
  [{ hyphen: 0, digits: 0 }, ['ñandú', 'casa']],
  [{ digits: 1 }, ['x9', 'a1', 'casa2']],
  [{ idn: 1 }, ['ñandú']],
  [{ idn: 0, max_length: 4, digits: 0 }, ['casa']],
  [{ not: 'casa' }, ['ñandú', 'x9', 'a1']],
  [{ not: ' Casa-.cl  2 x' }, ['ñandú', 'a1', 'mi-casa', 'casa']],
  [{ not: 'xn--and' }, without('ñandú')],
  [{ not_tag: 'basura' }, without('casa')],
  [{ not_tag: 'B, A' }, without('casa', 'a1')],
  [{ not_agent: 'grupo' }, ['x9', 'mi-casa', 'casa']],
  [{ not_agent: 'GRUPO SUR, águila' }, without('casa', 'mi-casa', 'x9')],
  [{ not: 'z', not_tag: 'basura', not_agent: 'grupo' }, ['x9', 'mi-casa']],
  [{ not: '' }, ALL],
  [{ not: '*' }, ALL],
  [{ not_word: 'casa' }, ['ñandú', 'x9', 'a1', 'casa2']],
  [{ not_word: ' Mi,CASA,ñandú' }, ['ñandú', 'x9', 'a1', 'casa2']],
  [{ shape: 'CVCV' }, ['casa']],
  [{ shape: 'cvllN' }, ['casa2']],
  [{ shape: 'LL' }, []],
  [{ shape: 'LN' }, ['x9', 'a1']],
  [{ shape: 'CVHLLLL' }, ['mi-casa']],
  [{ shape: 'CVCCV' }, ['ñandú']],
  [{ syllables: 2 }, ['ñandú', 'casa']],
  [{ syllables: 1 }, []],
  [{ max_syllables: 1 }, []],
  [{ max_syllables: 63, not: 'c' }, ['ñandú']],
  [{ search: 'casa', not: '-', not_word: 'mi' }, ['casa2', 'casa']],
  [{ search: 'casa', starts: 'casa', hyphen: 1 }, ['casa-casa']],
  [{ last_register: 2, pattern: '*casa*' }, ['casa-casa', 'mi-casa']],
  [{ last_deleted: 2, pattern: '*casa*' }, []],
  [{ starts: 'c', sort: 'asc' }, ['casa', 'casa2', 'casa-casa']],
]

for (const [query, wanted] of FILTERS) {
  test(`list with ${JSON.stringify(query)}`, async () => {
    assert.deepEqual(await names(service, query), wanted)
    assert.deepEqual(await walkNames(service, { ...query, limit: 1 }), wanted)
  })
}

const TAKES_MOMENT = 'debe ser un día (YYYY-MM-DD) o una fecha y hora (YYYY-MM-DD HH:MM:SS) que existan'
const MOMENTS = [
  '',
  '2025',
  '2025-02-30',
  '2025-1-1',
  '2025-01-01T10:00:00',
  '2025-01-01 24:00:00',
  '2025-01-01 ',
]
const TOO_LONG = 'debe ser un texto de 255 caracteres como máximo'
const MALFORMED: readonly [string, readonly string[], string][] = [
  ['from', MOMENTS, TAKES_MOMENT],
  ['to', MOMENTS, TAKES_MOMENT],
  ['min_length', ['0', '64', 'x', ''], 'debe ser un entero entre 1 y 63'],
  ['max_length', ['0', '64', 'x', ''], 'debe ser un entero entre 1 y 63'],
  ['hyphen', ['', '2', 'no'], 'debe ser un entero entre 0 y 1'],
  ['digits', ['', '-1', 'si'], 'debe ser un entero entre 0 y 1'],
  ['idn', ['', '2', 'true'], 'debe ser un entero entre 0 y 1'],
  ['starts', ['a'.repeat(256)], TOO_LONG],
  ['ends', ['a'.repeat(256)], TOO_LONG],
  ['pattern', ['*'.repeat(256)], TOO_LONG],
  ['not', ['a'.repeat(256)], TOO_LONG],
  ['shape', ['', 'CVX', 'C V', 'C'.repeat(64)], 'debe ser un texto de 1 a 63 letras C, V, L, N o H'],
  ['syllables', ['0', '64', 'x', ''], 'debe ser un entero entre 1 y 63'],
  ['max_syllables', ['0', '64', 'x', ''], 'debe ser un entero entre 1 y 63'],
  ['words', ['0', '7'], 'debe ser un entero entre 1 y 6'],
  ['word', ['', 'casa verde', 'casa*', 'ñ'.repeat(32)], 'debe ser una palabra de 1 a 31 letras'],
  ['ns', ['a b'], 'debe ser el nombre de un servidor'],
  ['mx', [''], 'debe ser el nombre de un servidor'],
  ['ip', ['1.2.3'], 'debe ser una dirección IP'],
  [
    'not_word',
    ['', 'casa,', 'a1', 'a b', 'a'.repeat(32), 'ab,'.repeat(85) + 'a'],
    'debe ser una o más palabras de 1 a 31 letras, separadas por comas',
  ],
  [
    'not_tag',
    ['', ',a', 'a b', 'a'.repeat(31)],
    'debe ser una o más etiquetas de 1 a 30 letras, dígitos o guiones, separadas por comas',
  ],
  [
    'not_agent',
    ['', ' ', 'a,,b', 'a'.repeat(256)],
    'debe ser uno o más agentes separados por comas, en 255 caracteres como máximo',
  ],
]

for (const [name, values, takes] of MALFORMED) {
  test(`a wrong ${name} is a 400 that names it`, async () => {
    for (const value of values) {
      const { body } = await call(service, LIST, { query: { api: service.domainKey, [name]: value } })
      assert.deepEqual(body, { status: 400, msg: `El parámetro ${name} ${takes}` }, value)
    }
  })
}

test('a pattern with catastrophic backtracking elsewhere is answered quickly', async () => {
  await stored(service, [record('a'.repeat(63), { date_reg: '2020-01-01 00:00:00' })])
  const pattern = '*a'.repeat(40) + '*b'
  assert.deepEqual(await names(service, { pattern }), [])
  assert.deepEqual(await names(service, { pattern: '*a'.repeat(40) }), ['a'.repeat(63)])
})

test('status_from selects what was added, freed or registered since, whatever else has changed', async () => {
  const old = { date_reg: '2020-01-01 00:00:00' }
  const now = () => localDateTime(clock.now(), 'America/Santiago')
  const [bought, free, kept, added] = ['de-comprado', 'de-libre', 'de-sol', 'de-nuevo']
  await stored(service, [record(bought, old), record(free, { ...old, status: 0 }), record(kept, old)])
  clock.advance(60_000)
  const since = now()
  const news = (more: Fields = {}) =>
    names(service, { starts: 'de-', status_from: since, order: 'name', sort: 'asc', ...more })
  await update(service, [
    { domain: bought, note: 'una nota', tags: ['marca'], seen: 1 },
    { domain: kept, agent: 'otro', reserve: 1 },
  ])
  await stored(service, [record(kept, { date_reg: '2020-02-02 00:00:00' })])
  assert.deepEqual(await news(), [])
  await stored(service, [record(added, old)])
  await update(service, [
    { domain: bought, status: 0 },
    { domain: free, status: 1 },
  ])
  assert.deepEqual(await news(), [bought, free, added])
  assert.deepEqual(await news({ status: 1 }), [free, added])
  clock.advance(60_000)
  assert.deepEqual(await news({ status_from: now() }), [])
})
