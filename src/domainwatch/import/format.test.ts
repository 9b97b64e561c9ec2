import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'

import { bareName, toLayout, parseLine, registryDate, splitCsv } from './format.ts'

test('CSV according to RFC 4180 is parsed', () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'ñ', '"', ',', ';', '\n', ' ') })
  const separators = fc.constantFrom(',', ';')
  fc.assert(
    fc.property(fc.array(field, { minLength: 1 }), separators, (fields, separator) => {
      const written = fields.map((text) => (/[",;\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
      assert.deepEqual(splitCsv(written.join(separator), separator), fields)
    }),
  )
})

test('an unterminated quoted field is open, and a stray quote is not CSV', () => {
  assert.equal(splitCsv('a,"b', ','), 'open')
  assert.equal(splitCsv('a,"b""', ','), 'open')
  assert.equal(splitCsv('a,b"c', ','), undefined)
  assert.equal(splitCsv('a,"b"c', ','), undefined)
})

const OWN = 'name,length,agent,status,reserved,revision,discarded,date_reg,date_mod,deleted_at,discarded_at'

test('the first lines identify the layout', () => {
  const detected = (...sample: string[]) => {
    const layout = toLayout(sample)
    return layout && [layout.format, layout.separator, layout.hasHeader, [...layout.columns.values()]]
  }
  assert.deepEqual(detected('Nombre Dominio,Fecha Inscripción'), ['registrations', ',', true, [0, 1]])
  assert.deepEqual(detected('"Fecha";"Dominio"'), ['registrations', ';', true, [1, 0]])
  assert.deepEqual(detected('nombre.cl,2025-12-31 10:00:00'), ['registrations', ',', false, [0, 1]])
  assert.deepEqual(detected('ejemplo.cl'), ['deletions', ',', false, []])
  assert.deepEqual(detected('{"name":"a"}'), ['ndjson', ',', false, []])
  assert.equal(detected(OWN)?.[0], 'csv')
  assert.equal(detected('uno,dos,tres'), undefined)
  assert.deepEqual(detected('Dominio\tFecha\tTitular\t'), ['registrations', '\t', true, [0, 1]])
  assert.deepEqual(detected('uno.cl\t'), ['deletions', ',', false, []])
  assert.deepEqual(detected('Nombre de dominio', 'uno.cl'), ['deletions', ',', true, []])
  assert.deepEqual(detected('dominio'), ['deletions', ',', false, []])
  // Some invalid lines do not change the format.
  assert.deepEqual(detected('¿?', '-malo.cl', 'ma lo.cl', 'uno.com'), ['deletions', ',', false, []])
  assert.equal(detected('<html>', '<body>', 'uno', '</body>'), undefined)
  assert.equal(detected('Dominio,Fecha\runo.cl,2025-12-31'), undefined)
  assert.equal(toLayout(['ejemplo.cl'], 'csv'), undefined)
  assert.equal(toLayout(['ejemplo.cl'], 'registrations'), undefined)
})

test('an export is recognised by the fields that each has, in any order and with any others', () => {
  const required = 'date_mod;name;length;agent;status;reserved;revision;discarded;date_reg'
  assert.equal(toLayout([required])?.format, 'csv')
  assert.equal(toLayout([`${required};of a later version`])?.format, 'csv')
  for (const field of required.split(';'))
    assert.equal(toLayout([required.replace(field, 'other')], 'csv'), undefined, field)
})

test('dates of lists are converted to those of records; without a time they mean a whole day', () => {
  const exactly = (date: string) => ({ from: date, to: date })
  assert.deepEqual(registryDate('2025-12-31 10:20:30'), exactly('2025-12-31 10:20:30'))
  assert.deepEqual(registryDate('2025-12-31T10:20'), exactly('2025-12-31 10:20:00'))
  assert.deepEqual(registryDate('31/12/2025'), { from: '2025-12-31 00:00:00', to: '2025-12-31 23:59:59' })
  assert.deepEqual(registryDate('31-12-2025 10:20:30'), exactly('2025-12-31 10:20:30'))
  assert.equal(registryDate('12.31.2025'), undefined)
})

test('dates of ISO 8601 may have a fraction and an offset', () => {
  const exactly = (at: string, offsetMs?: number) => ({
    from: at,
    to: at,
    ...(offsetMs !== undefined && { offsetMs }),
  })
  const hour = 3_600_000
  assert.deepEqual(registryDate('2025-12-31T10:20:30.123456'), exactly('2025-12-31 10:20:30'))
  assert.deepEqual(registryDate('2025-12-31T10:20:30Z'), exactly('2025-12-31 10:20:30', 0))
  assert.deepEqual(registryDate('2025-12-31t10:20:30.5z'), exactly('2025-12-31 10:20:30', 0))
  assert.deepEqual(registryDate('2025-12-31T10:20-03:00'), exactly('2025-12-31 10:20:00', -3 * hour))
  assert.deepEqual(registryDate('2025-12-31 10:20:30 +0530'), exactly('2025-12-31 10:20:30', 5.5 * hour))
  assert.deepEqual(registryDate('2025-12-31T10:20:30-04'), exactly('2025-12-31 10:20:30', -4 * hour))
  for (const text of [
    '2025-12-31T10',
    '2025-12-31Z',
    '2025-12-31T10:20:30.Z',
    '2025-12-31T10:20:30+3',
    '2025-12-31T10.5',
  ])
    assert.equal(registryDate(text), undefined, text)
})

const layout = (...sample: string[]) => {
  const found = toLayout(sample)
  assert.ok(found !== undefined)
  return found
}
const context = {
  now: '2026-01-15 12:00:00',
  latest: '2026-01-16 12:00:00',
  timeZone: 'America/Santiago',
  split: () => [],
  restores: false,
}
const read = (line: string, more: object = {}) => {
  const parsed = parseLine(line, layout('Nombre,Fecha'), { ...context, ...more })
  return parsed.ok ? parsed.values.slice(4, 6) : parsed.msg
}

test('a registration was at the latest at the end of its day, or now', () => {
  assert.deepEqual(read('uno.cl,2026-01-14'), ['2026-01-14 00:00:00', '2026-01-14 23:59:59'])
  assert.deepEqual(read('uno.cl,2026-01-15'), ['2026-01-15 00:00:00', '2026-01-15 12:00:00'])
  assert.deepEqual(read('uno.cl,2026-01-15 13:00'), ['2026-01-15 13:00:00', '2026-01-15 13:00:00'])
  assert.deepEqual(read('uno.cl,2026-01-16'), ['2026-01-15 12:00:00', '2026-01-15 12:00:00'])
})

test('a registration with an offset is shown in the time zone of the service, whatever that of the list', () => {
  const both = (at: string) => [at, at]
  assert.deepEqual(read('uno.cl,2026-01-14T10:20:30Z'), both('2026-01-14 07:20:30'))
  assert.deepEqual(read('uno.cl,2026-01-14T10:20:30.9+01:00', { zone: 'UTC' }), both('2026-01-14 06:20:30'))
  assert.deepEqual(
    read('uno.cl,2026-07-01T00:30:00-04:00'),
    'La fecha de inscripción está más de un día en el futuro',
  )
  assert.deepEqual(read('uno.cl,2025-07-01T00:30:00-03:00'), both('2025-06-30 23:30:00'))
  assert.match(String(read('uno.cl,2026-02-30T10:20:30Z')), /fecha/)
})

test('a date more than a day ahead is not valid', () => {
  const msg = 'La fecha de inscripción está más de un día en el futuro'
  assert.deepEqual(read('uno.cl,2026-01-16 12:00:00'), ['2026-01-16 12:00:00', '2026-01-16 12:00:00'])
  assert.equal(read('uno.cl,2026-01-16 12:00:01'), msg)
  assert.equal(read('uno.cl,2026-01-17'), msg)
})

test('dates are read in the time zone of the list; of an hour that it repeats the later one is meant', () => {
  const madrid = { zone: 'Europe/Madrid' }
  assert.deepEqual(read('uno.cl,2026-01-14 10:00:00', madrid)[1], '2026-01-14 06:00:00')
  // 2:30 is at 0:30 and at 1:30 UTC.
  assert.deepEqual(read('uno.cl,2025-10-26 02:30:00', madrid)[1], '2025-10-25 22:30:00')
})

test('the word error is not a domain, unless it has a suffix', () => {
  const deletion = (line: string) => parseLine(line, layout('uno.cl'), context)
  assert.equal(deletion('Error').ok, false)
  assert.equal(deletion('error.cl').ok, true)
})

test('names lose one suffix', () => {
  assert.deepEqual([' Uno.CL ', 'dos.cl.', 'tres', 'cuatro.cl.cl'].map(bareName), [
    'Uno',
    'dos',
    'tres',
    'cuatro.cl',
  ])
})
