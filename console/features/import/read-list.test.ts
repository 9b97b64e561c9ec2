import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readList } from './read-list.ts'
import { UnreadableFile } from './decode-text.ts'

const read = (text: string | Uint8Array<ArrayBuffer>) => readList(new Blob([text]))
const rowsOf = async (text: string | Uint8Array<ArrayBuffer>) =>
  (await read(text)).rows.map(({ domain, status, date }) => [domain, status, date])
const LIST = 'Nombre Dominio,Fecha Inscripción\r\nñandú.cl,2025-12-31 22:17:44\r\n'
const ROWS = [['ñandú', 1, '2025-12-31 22:17:44']]

test("reads the registry's list of registrations with its header, and reports invalid lines", async () => {
  const text =
    'Nombre Dominio,Fecha Inscripción\r\nshadharspa.cl,2025-12-31 22:17:44\r\nÑANDÚ.CL;2025-12-30\r\nroto\r\n\r\n'
  assert.deepEqual(await read(`\uFEFF${text}`), {
    kind: 'registrations',
    rows: [
      { line: 2, domain: 'shadharspa', status: 1, reserve: 0, date: '2025-12-31 22:17:44' },
      { line: 3, domain: 'ñandú', status: 1, reserve: 0, date: '2025-12-30 00:00:00' },
    ],
    bad: [{ line: 4, text: 'roto', reason: 'import.reason.noDate' }],
    badCount: 1,
    repeated: 0,
    understood: {
      encoding: 'utf-8',
      separator: ',',
      columns: ['Nombre Dominio', 'Fecha Inscripción'],
      order: 'year-first',
      isGuess: false,
    },
  })
})

test('reads the list of deletions, one name per line', async () => {
  const { kind, rows, bad } = await read('casa.cl\nfaro.cl.\nde dos palabras\n')
  assert.equal(kind, 'deletions')
  assert.deepEqual(rows, [
    { line: 1, domain: 'casa', status: 0, reserve: 0, date: undefined },
    { line: 2, domain: 'faro', status: 0, reserve: 0, date: undefined },
  ])
  assert.deepEqual(bad, [{ line: 3, text: 'de dos palabras', reason: 'import.reason.letters' }])
})

test('reads the usual encodings, line ends, separators and quotes', async () => {
  assert.deepEqual(await rowsOf(LIST), ROWS)
  assert.deepEqual(await rowsOf(LIST.replaceAll('\r\n', '\n')), ROWS)
  assert.deepEqual(await rowsOf(LIST.replaceAll('\r\n', '\r')), ROWS)
  assert.deepEqual(await rowsOf(LIST.replaceAll(',', ';')), ROWS)
  assert.deepEqual(await rowsOf(LIST.replaceAll(',', '\t')), ROWS)
  assert.deepEqual(await rowsOf('"Fecha Inscripción";"Nombre"\n"2025-12-31 22:17:44";"ñandú.cl"'), ROWS)
  assert.deepEqual(await rowsOf('2025-12-31 22:17:44,ñandú.cl'), ROWS)
  assert.deepEqual(await rowsOf(new Uint8Array(Buffer.from(LIST, 'latin1'))), ROWS)
  assert.deepEqual(await rowsOf(new Uint8Array(Buffer.from(LIST, 'utf16le'))), ROWS)
  assert.deepEqual(await rowsOf(new Uint8Array(Buffer.from(`\uFEFF${LIST}`, 'utf16le'))), ROWS)
  assert.deepEqual(await rowsOf(new Uint8Array(Buffer.from(`\uFEFF${LIST}`, 'utf16le').swap16())), ROWS)
  assert.deepEqual(await rowsOf(new Uint8Array(gzipSync(LIST))), ROWS)
  // One line in another encoding.
  const mixed = Buffer.concat([Buffer.from(LIST), Buffer.from('árbol.cl,2025-12-30 00:00:00\n', 'latin1')])
  assert.deepEqual(await rowsOf(new Uint8Array(mixed)), [...ROWS, ['árbol', 1, '2025-12-30 00:00:00']])
})

test('the whole list decides the order of day and month', async () => {
  const dates = async (...given: string[]) => {
    const { rows, bad, understood } = await read(given.map((date, i) => `n${i}.cl,${date}`).join('\n'))
    return [
      rows.map(({ date }) => date?.slice(0, 10)),
      bad.map(({ line }) => line),
      understood.order,
      understood.isGuess,
    ]
  }
  assert.deepEqual(await dates('31/12/2025', '03-04-2025'), [
    ['2025-12-31', '2025-04-03'],
    [],
    'day-first',
    false,
  ])
  assert.deepEqual(await dates('12/31/2025', '03/04/2025'), [
    ['2025-12-31', '2025-03-04'],
    [],
    'month-first',
    false,
  ])
  assert.deepEqual(await dates('03/04/2025'), [['2025-04-03'], [], 'day-first', true])
  assert.deepEqual(await dates('31/12/2025', '12/31/2025'), [['2025-12-31'], [2], 'day-first', false])
  assert.deepEqual(await dates('2025-02-28', '2025-02-29', '2025-04-31', '0000-01-01', '2024-02-29'), [
    ['2025-02-28', '2024-02-29'],
    [2, 3, 4],
    'year-first',
    false,
  ])
  const [guess] = (await readList(new Blob(['n.cl,03/04/2025']), { order: 'month-first' })).rows
  assert.equal(guess?.date, '2025-03-04 00:00:00')
})

test('invalid lines are reported with number and reason, and do not affect others', async () => {
  const lines = [
    'bien.cl,2025-12-31 10:00:00',
    'mal.cl,2025-02-30 10:00:00',
    'mal.cl,2025-12-31 25:00:00',
    'mal.cl,ayer',
    'mal.cl,',
    'mal.com,2025-12-31',
    '-mal.cl,2025-12-31',
    'm@l.cl,2025-12-31',
    `${'m'.repeat(64)}.cl,2025-12-31`,
    ',2025-12-31',
    'xn--and-6ma2c.cl,2025-12-31',
    'xn--mal.cl,2025-12-31',
    'bien.cl,2025-12-30 10:00:00',
  ]
  const { rows, bad, repeated } = await read(lines.join('\n'))
  assert.deepEqual(
    rows.map(({ line, domain, date }) => [line, domain, date]),
    [
      [11, 'ñandú', '2025-12-31 00:00:00'],
      [13, 'bien', '2025-12-30 10:00:00'],
    ],
  )
  assert.equal(repeated, 1)
  assert.deepEqual(
    bad.map(({ line, reason }) => [line, reason]),
    [
      [2, 'import.reason.noSuchDate'],
      [3, 'import.reason.noSuchDate'],
      [4, 'import.reason.date'],
      [5, 'import.reason.noDate'],
      [6, 'import.reason.suffix'],
      [7, 'import.reason.hyphen'],
      [8, 'import.reason.letters'],
      [9, 'import.reason.length'],
      [10, 'import.reason.noName'],
      [12, 'import.reason.letters'],
    ],
  )
})

test('reads bought and reserved from our own exports', async () => {
  const head =
    'name,length,agent,status,reserved,revision,discarded,date_reg,date_mod,deleted_at,discarded_at'
  const text = `${head}\ncasa,4,"a, b",0,1,0,0,2025-01-02 03:04:05,2025-01-02 03:04:05,,\n`
  const { rows, bad } = await read(text)
  assert.deepEqual(rows, [{ line: 2, domain: 'casa', status: 0, reserve: 1, date: '2025-01-02 03:04:05' }])
  assert.deepEqual(bad, [])
})

test('a header can identify a list of deletions, too', async () => {
  assert.deepEqual(await rowsOf('Dominio;Fecha de eliminación\ncasa.cl;01-02-2025'), [['casa', 0, undefined]])
  assert.deepEqual(await rowsOf('Nombre de dominio\ncasa.cl'), [['casa', 0, undefined]])
  assert.deepEqual(await rowsOf('dominio\ncasa.cl'), [['casa', 0, undefined]])
  assert.deepEqual(await rowsOf('dominio\ncasa'), [
    ['dominio', 0, undefined],
    ['casa', 0, undefined],
  ])
})

test('other files are rejected with the reason', async () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const cases: [string | Uint8Array<ArrayBuffer>, string][] = [
    ['', 'import.empty'],
    [' \r\n\t\r\n', 'import.empty'],
    ['\uFEFF', 'import.empty'],
    ['Nombre Dominio,Fecha Inscripción\r\n', 'import.headOnly'],
    [new Uint8Array(png), 'import.binary'],
    [new Uint8Array(Buffer.concat([Buffer.from('PK\x03\x04'), png])), 'import.spreadsheet'],
    ['{"name":"casa"}\n', 'import.json'],
    ['\n<!doctype html><html></html>', 'import.page'],
    ['Nombre,Titular\ncasa.cl,Ana\n', 'import.noDates'],
    ['casa.cl,Ana\nfaro.cl,Luis\n', 'import.noDates'],
    [new Uint8Array(gzipSync('casa.cl\n'.repeat(9_000)).subarray(0, 40)), 'import.brokenGzip'],
    [new Uint8Array(gzipSync(Buffer.alloc(100_000_001, `${'x'.repeat(60_000)}\n`))), 'import.tooLarge'],
    ['casa.cl\n'.repeat(1_500_001), 'import.tooLarge'],
    ['x'.repeat(2_000_000), 'import.binary'],
  ]
  for (const [content, reason] of cases) {
    await assert.rejects(
      read(content),
      (error) => error instanceof UnreadableFile && error.reason === reason,
      reason,
    )
  }
})
