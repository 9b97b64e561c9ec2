import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readList } from './read.ts'

test("the registry's list of registrations, with its head line, and what cannot be read", () => {
  const text =
    'Nombre Dominio,Fecha Inscripción\r\nshadharspa.cl,2025-12-31 22:17:44\r\nÑANDÚ.CL;2025-12-30\r\nroto\r\n\r\n'
  assert.deepEqual(readList(`\uFEFF${text}`), {
    kind: 'registrations',
    rows: [
      { line: 2, domain: 'shadharspa', status: 1, date: '2025-12-31 22:17:44' },
      { line: 3, domain: 'ñandú', status: 1, date: '2025-12-30 00:00:00' },
    ],
    bad: [{ line: 4, text: 'roto', message: undefined }],
  })
})

test('the list of deletions: one name a line', () => {
  assert.deepEqual(readList('casa.cl\nfaro.cl.\nde dos palabras\n'), {
    kind: 'deletions',
    rows: [
      { line: 1, domain: 'casa', status: 0, date: undefined },
      { line: 2, domain: 'faro', status: 0, date: undefined },
    ],
    bad: [{ line: 3, text: 'de dos palabras', message: undefined }],
  })
})
