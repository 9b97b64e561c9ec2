import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  curlLine,
  FILTER_NAMES,
  toFilters,
  formatWords,
  parseWords,
  queryOf,
  withFilters,
  type Filters,
} from './filters.ts'

test('words are understood in both languages, with and without accents', () => {
  assert.deepEqual(parseWords('ñandú largo:4 estado:libre es:revisión'), {
    search: 'ñandú',
    length: '4',
    status: '0',
    rev: '',
  })
  assert.deepEqual(parseWords('maximo:5 guion:no digits:yes idn:SI'), {
    max_length: '5',
    hyphen: '0',
    digits: '1',
    idn: '1',
  })
  assert.deepEqual(parseWords('STATE:registered is:review Es:Revision'), { status: '1', rev: '' })
  assert.deepEqual(parseWords('nic en:agente'), { search: 'nic', agent: '' })
  assert.deepEqual(parseWords('en:agente'), {}, 'the API takes it with something to look for only')
  assert.deepEqual(parseWords('sin:casa+depto sin-agente:Grupo+Sur,b1 without-tag:a,b x'), {
    search: 'x',
    not: 'casa depto',
    not_agent: 'Grupo Sur,b1',
    not_tag: 'a,b',
  })
  assert.deepEqual(parseWords('hola:mundo  largo:  x'), { search: 'x' })
  assert.deepEqual(parseWords('https://www.Casa.cl/inicio?a=1 www.mi-banco.cl. largo:4 .cl'), {
    search: 'casa mi-banco .cl',
    length: '4',
  })
  assert.deepEqual(parseWords('www.nic.cl en:agente'), { search: 'www.nic.cl', agent: '' })
  assert.deepEqual(parseWords('orden:antiguos largo:muy'), { sort: 'asc', length: 'muy' })
  assert.deepEqual(parseWords('desde:2026-01-05T08:30:00'), { from: '2026-01-05 08:30:00' })
  assert.equal(formatWords({ from: '2026-01-05 08:30:00' }, 'es'), 'desde:2026-01-05T08:30:00')
})

const filters: fc.Arbitrary<Filters> = fc
  .record(
    {
      search: fc.stringMatching(/^[a-zñ0-9-]{1,10}( [a-z]{1,4})?$/),
      agent: fc.constant(''),
      length: fc.integer({ min: 1, max: 63 }).map(String),
      status: fc.constantFrom('0', '1'),
      rev: fc.constant(''),
      dis: fc.constant(''),
      reserve: fc.constant(''),
      sort: fc.constantFrom('asc', 'desc'),
      min_length: fc.integer({ min: 1, max: 63 }).map(String),
      pattern: fc.stringMatching(/^[a-z?*]{1,8}$/),
      from: fc.constant('2025-12-31'),
      not: fc.constantFrom('casa', 'casa depto'),
      not_agent: fc.constantFrom('grupo sur,otro', 'b1'),
      hyphen: fc.constantFrom('0', '1'),
      last_register: fc.integer({ min: 1, max: 1_024 }).map(String),
    },
    { requiredKeys: [] },
  )
  .map((one) => withFilters({}, one))

test('filters survive words in either language, and the address', () => {
  fc.assert(
    fc.property(filters, fc.constantFrom('es' as const, 'en' as const), (one, language) => {
      assert.deepEqual(parseWords(formatWords(one, language)), one)
      assert.deepEqual(toFilters(queryOf(one)), one)
      for (const name of Object.keys(one)) assert.ok(FILTER_NAMES.includes(name))
    }),
  )
})

test('a curl line omits the key, and quotes shell characters', () => {
  const address = new URL("https://x.cl/o'higgins/api/v1/domainwatch/list?search=it's&length=4&api=secret")
  assert.equal(
    curlLine(address),
    `curl 'https://x.cl/o'\\''higgins/api/v1/domainwatch/list?search=it%27s&length=4&api='"$CATALEJO_KEY"`,
  )
})
