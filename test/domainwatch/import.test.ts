import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { catalejoOn, importText } from '../support/cli.ts'
import { names, record, records, removeRecords, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call, type Fields } from '../support/http.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const EXPORT = '/api/v1/domainwatch/export'
const HEAD = 'name,length,agent,status,reserved,revision,discarded,date_reg,date_mod,deleted_at,discarded_at'

const clock = new ManualClock('2026-01-15T12:00:00.250Z')
const [service, other] = [await startService({ clock }), await startService({ clock })]
const folder = await temporaryFolder()
after(async () => {
  for (const each of [service, other, folder]) await each[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await removeRecords(service)
  await removeRecords(other)
})

async function exported(of: TestService, query: Fields = {}) {
  return call(of, EXPORT, { query: { api: of.domainKey, ...query } })
}

const import_ = (of: TestService, text: string | Uint8Array, ...args: string[]) =>
  importText(of, folder.path, text, args)

const counted = (read: number, changed: number) => ({
  code: 0,
  stdout: `${read} records, ${changed} new or changed, 0 lines refused\n`,
  messages: [],
})

const at = '2025-12-31 14:30:34'

test('exports of several parts are complete, and import to the same state', async () => {
  const many = Array.from({ length: 2_100 }, (_, i) =>
    record(`n${i}`, {
      status: i % 2,
      reserve: i % 3 === 0 ? 1 : 0,
      date_reg: `2025-01-01 00:00:${10 + (i % 40)}`,
    }),
  )
  await stored(service, many)
  // Deleted after it was recorded, marked, discarded, an agent that CSV must quote.
  await update(service, [
    { domain: 'n1', status: 0 },
    { domain: 'n2', revision: 1, agent: 'dos\nlíneas, "con comillas"' },
    { domain: 'n3', discarded: 1 },
    { domain: 'n4', agent: 'del\r\nportapapeles' },
    { domain: 'n5', agent: `a${'\n'.repeat(98)}"` },
  ])
  const last = { last_register: 1_024, last_deleted: 1_024 }
  assert.equal((await exported(service, last)).text.split('\r\n').length, 2_048 + 2)

  for (const format of ['csv', 'ndjson']) {
    await removeRecords(other)
    const { text } = await exported(service, { format })
    // The second time nothing changes.
    for (const changed of [2_100, 0])
      assert.deepEqual(
        await import_(other, format === 'csv' ? text : gzipSync(text)),
        counted(2_100, changed),
      )
    await eventually(async () => (await names(other, { search: 'n2099' })).length === 1, 'the last name')
    assert.equal((await exported(other, { format })).text, text)
    const { stdout } = await catalejoOn(other, ['export', '--format', format])
    assert.ok(stdout === (await exported(other, { format, order: 'name', sort: 'asc' })).text)
  }
})

test('a CSV of another version is recognised by the fields that every export has, whatever its other columns', async () => {
  await stored(service, [record('uno'), record('dos', { reserve: 1, agent: 'a,"b"' })])
  const { text } = await exported(service, { sort: 'asc' })
  const [head = '', ...lines] = text.trimEnd().split('\r\n')
  // Both values are empty in records that are bought and not discarded.
  const older = [
    head.replace(',deleted_at,discarded_at', ''),
    ...lines.map((line) => line.replace(/,,$/, '')),
  ]
  const newer = [`${head},later`, ...lines.map((line) => `${line},x`)]
  for (const file of [older, newer]) {
    await removeRecords(other)
    assert.deepEqual(await import_(other, file.join('\r\n')), counted(2, 2))
    await eventually(async () => (await exported(other, { sort: 'asc' })).text === text, 'the same export')
  }
})

const REGISTRY = ['deleted_after', 'date_reg_known', 'dismissed_by', 'dismissed_at']
const SIGNALS = [
  'shape',
  'syllables',
  'demand',
  'twins',
  'drops',
  'age',
  'object_until',
  'interest',
  'because',
  'numbers',
]
const DECIDED = ['seen', 'seen_by', 'seen_at', 'note', 'tags']

test('decisions, notes and tags are exported on request and imported; an import without them keeps them', async () => {
  await stored(service, [record('uno'), record('dos'), record('tres', { status: 0 })])
  const note = '=1+1\r\n"ñ", \u202e\\u000a;'
  await update(service, [
    { domain: 'uno', seen: 1, note: 'x', tags: ['ñandú', 'b-2'] },
    { domain: 'dos', note: '-1' },
  ])
  // A note from before invisible characters were refused.
  await service.sql(`UPDATE domains SET note = '${note}' WHERE name = 'uno'`)
  const all = { fields: 'all', sort: 'asc' }
  const now = '2026-01-15 09:00:00'
  const until = '2026-01-30 14:30:34'
  const ndjson = (await exported(service, { ...all, format: 'ndjson' })).text
  assert.ok(!ndjson.includes('\u202e'), 'invisible characters are escaped')
  assert.deepEqual(
    ndjson
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map((line) => [line.name, ...DECIDED.map((field) => line[field])]),
    [
      ['dos', 0, null, null, '-1', []],
      ['tres', 0, null, null, '', []],
      ['uno', 1, 'grupo', now, note, ['ñandú', 'b-2']],
    ],
  )
  const csv = (await exported(service, all)).text
  assert.deepEqual(csv.split('\r\n'), [
    `${HEAD},${DECIDED.join(',')},words,claimed_by,claimed_until,${REGISTRY.join(',')},${SIGNALS.join(',')}`,
    `dos,3,grupo,1,0,0,0,${at},${now},,,0,,,'-1,,dos,,,,1,,,CVC,1,1,,0,0,${until},,,`,
    `tres,4,grupo,0,0,0,0,${at},${now},${at},,0,,,,,tres,,,${at},1,,,CCVC,1,0,,1,0,,,,`,
    `uno,3,grupo,1,0,0,0,${at},${now},,,1,grupo,${now},` +
      `"'=1+1\\u000d\\u000a""ñ"", \\u202e\\u005cu000a;",ñandú b-2,uno,,,,1,,,VCV,2,1,,0,0,${until},,,`,
    '',
  ])
  const plain = (await exported(service, { sort: 'asc' })).text
  assert.equal(plain.split('\r\n')[0], HEAD)
  assert.equal((await exported(service, { sort: 'asc', fields: 'deleted_at' })).text, plain)
  const few = await exported(service, { search: 'uno', fields: 'tags,seen', format: 'ndjson' })
  assert.deepEqual(Object.keys(JSON.parse(few.text)).slice(-2), ['seen', 'tags'])

  /** Imports a text, which changes this number of records. The list is then that of the first export. */
  const imported = async (text: string, changed: number) => {
    assert.deepEqual(await import_(other, text), counted(3, changed))
    // The command has a connection of its own, whose commit reaches the service a moment later.
    await eventually(async () => (await exported(other, all)).text === csv, 'the first export')
    assert.equal((await exported(other, { ...all, format: 'ndjson' })).text, ndjson)
  }
  await imported(csv, 3)
  // Of what an export says nothing nothing changes.
  for (const text of [plain, ndjson, csv]) await imported(text, 0)
  const { stdout } = await catalejoOn(other, ['export', '--fields', 'all', '--format', 'ndjson'])
  // By the clock of the system, the time for objections is over.
  const later = ndjson.replaceAll(`"${until}"`, 'null')
  assert.deepEqual(stdout.split('\n').toSorted(), later.split('\n').toSorted())

  // What it says replaces what is there; a new status alone makes a record unseen.
  const [, , , uno = ''] = csv.split('\r\n')
  await update(other, [
    { domain: 'tres', seen: 1, note: 'otra', tags: ['x'] },
    { domain: 'dos', seen: 1 },
  ])
  await imported(csv, 2)
  const sold = `uno,3,grupo,0,0,0,0,${at},${now},${now},`
  assert.equal((await import_(other, `${HEAD}\r\n${sold}\r\n`)).code, 0)
  const rest = uno.slice(uno.indexOf(`"'=`)).replace(`1,,0,0,${until}`, '0,,1,0,')
  let after = ''
  const isSold = async () => {
    after = (await exported(other, { ...all, search: 'uno' })).text.split('\r\n')[1] ?? ''
    return after === `${sold},0,,,${rest}`
  }
  await eventually(isSold, () => after)

  const bad = {
    seen: ['{"seen":"1"}', 'El campo seen debe ser un número (0 o 1), no un texto'],
    seen_at: [
      '{"seen":1,"seen_by":"grupo"}',
      'El campo seen_at debe ser una fecha y hora (YYYY-MM-DD HH:MM:SS) si seen es 1, y si no, nada',
    ],
    seen_by: [
      `{"seen":0,"seen_by":"grupo"}`,
      'El campo seen_by debe ser un texto de 1 a 100 caracteres si seen es 1, y si no, nada',
    ],
  }
  const [line = ''] = ndjson.split('\n')
  const lines = Object.values(bad).map(([fields = '']) =>
    JSON.stringify({ ...JSON.parse(line), seen_at: null, seen_by: null, ...JSON.parse(fields) }),
  )
  const { messages } = await import_(other, lines.join('\n'))
  assert.deepEqual(
    messages.slice(0, 3),
    Object.values(bad).map(([, msg], i) => `${i + 1}: ${msg}`),
  )
})

test('the lists of the registry load while the service runs; bad lines are reported individually', async () => {
  const listed = (query: Fields, ...wanted: readonly string[]) =>
    eventually(async () => (await names(service, query)).join() === wanted.join(), wanted.join())
  const registrations = [
    'Nombre Dominio,Fecha Inscripción',
    'uno.cl,2025-12-31 10:00:00',
    '-malo.cl,2025-12-31 09:00:00',
    '"dos.cl,2025-12-31 08:30:00',
    'ñandú.cl,2025-12-31 08:00:00',
    'uno.cl,2024-01-01 00:00:00',
    'tres.cl,2025-02-30 00:00:00\n',
  ].join('\n')
  const dry = await import_(service, registrations, '--dry-run')
  assert.equal(dry.stdout, '3 records, 2 would be new, 0 would change, 1 would stay, 3 lines refused\n')
  assert.deepEqual(await names(service), [])
  assert.deepEqual(await import_(service, registrations), {
    code: 1,
    stdout: '3 records, 2 new or changed, 3 lines refused\n',
    messages: [
      '3: El nombre no es un dominio .cl válido',
      '4: La línea no es CSV válido',
      '7: La fecha de inscripción no es válida',
    ],
  })
  await listed({}, 'uno', 'ñandú')
  assert.deepEqual(
    (await records(service)).map(({ name, agent, status, date_reg }) => [name, agent, status, date_reg]),
    [
      ['uno', 'grupo', 1, '2025-12-31 10:00:00'],
      ['ñandú', 'grupo', 1, '2025-12-31 08:00:00'],
    ],
  )

  await update(service, [{ domain: 'uno', revision: 1 }])
  const released = 'uno.cl\nnuevo.cl\n'
  const tried = await import_(service, released, '--dry-run')
  assert.equal(tried.stdout, '2 records, 1 would be new, 1 would change, 0 would stay, 0 lines refused\n')
  assert.deepEqual(await names(service, { last_deleted: 10 }), [])
  assert.equal((await import_(service, released)).code, 0)
  await listed({ last_deleted: 10 }, 'uno', 'nuevo')
  const [uno] = await records(service, { search: 'uno' })
  assert.deepEqual([uno?.status, uno?.revision, uno?.date_reg], [0, 1, '2025-12-31 10:00:00'])
  // The older list again takes no deletion back.
  assert.match((await import_(service, registrations)).stdout, / 0 new or changed/)
  assert.deepEqual(await names(service, { status: 1 }), ['ñandú'])
})

test('numbers of names are imported from files, and again with --restart', async () => {
  await stored(service, [record('uno'), record('dos')])
  const path = join(folder.path, 'numeros.csv')
  const load = async (text: string, ...args: string[]) => {
    await writeFile(path, text)
    return catalejoOn(service, ['import', ...args, path])
  }
  const hasNumber = async (query: Fields) => (await names(service, query)).join() === 'uno'
  const text = 'name;key;number\nuno.cl;volumen;12.50\ndos;volumen;mucho\nno-anotado;volumen;3\n'
  assert.deepEqual(await load(text), {
    code: 1,
    stdout: `${path}: 2 records, 2 new or changed, 1 line refused\n`,
    messages: [`${path}:3: El campo number debe ser un número decimal, como -12 o 3.5`],
  })
  await eventually(() => hasNumber({ num_volumen_min: 12.5 }), 'the list has it')
  const again = await load('uno,volumen,-1\n', '--format', 'numbers', '--restart')
  assert.deepEqual([again.code, again.stdout], [0, `${path}: 1 record, 1 new or changed, 0 lines refused\n`])
  await eventually(() => hasNumber({ num_volumen_max: -1 }), 'the list has it')
})
