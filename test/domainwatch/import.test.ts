import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalejoHere, messagesIn } from '../support/cli.ts'
import { names, record, records, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call, type Fields } from '../support/http.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const EXPORT = '/api/v1/domainwatch/export'
const HEAD = 'name,length,agent,status,reserved,revision,discarded,date_reg,date_mod,deleted_at,discarded_at'

async function exported(service: TestService, query: Fields = {}) {
  return call(service, EXPORT, { query: { api: service.domainKey, ...query } })
}

function on(service: TestService): string[] {
  const { databaseUrl } = service
  return ['--data', service.data, ...(databaseUrl === '' ? [] : ['--database-url', databaseUrl])]
}

async function import_(service: TestService, ...args: string[]) {
  const { code, stdout, stderr } = await catalejoHere(['import', ...on(service), ...args])
  return { code, stdout, messages: messagesIn(stderr) }
}

const at = '2025-12-31 14:30:34'

test('exports of several parts are complete, and import to the same state', async () => {
  await using service = await startService()
  const many = Array.from({ length: 4_500 }, (_, i) =>
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

  await using folder = await temporaryFolder()
  for (const format of ['csv', 'ndjson']) {
    const { text } = await exported(service, { format })
    await using other = await startService()
    const file = join(folder.path, format)
    await writeFile(file, format === 'csv' ? text : gzipSync(text))
    // The second time nothing changes.
    assert.deepEqual(await import_(other, file, file), {
      code: 0,
      stdout: [4_500, 0]
        .map((changed) => `${file}: 4500 records, ${changed} new or changed, 0 lines refused\n`)
        .join(''),
      messages: [],
    })
    assert.equal((await exported(other, { format })).text, text)
    const written = await catalejoHere(['export', ...on(other), '--format', format])
    assert.ok(written.stdout === (await exported(other, { format, order: 'name', sort: 'asc' })).text)
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
  const clock = new ManualClock('2026-01-15T12:00:00.250Z')
  await using service = await startService({ clock })
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

  await using folder = await temporaryFolder()
  await using other = await startService({ clock })
  /** Imports texts, each of which changes this number of records. The list is then that of the first export. */
  const imported = async (texts: readonly string[], changed: number) => {
    const files = texts.map((_, i) => join(folder.path, `export${i}`))
    for (const [i, text] of texts.entries()) await writeFile(files[i] ?? '', text)
    assert.deepEqual(await import_(other, ...files), {
      code: 0,
      stdout: files
        .map((file) => `${file}: 3 records, ${changed} new or changed, 0 lines refused\n`)
        .join(''),
      messages: [],
    })
    // The command is another process, whose commit reaches the service a moment later.
    await eventually(async () => (await exported(other, all)).text === csv, 'the first export')
    assert.equal((await exported(other, { ...all, format: 'ndjson' })).text, ndjson)
  }
  await imported([csv], 3)
  // Of what an export says nothing nothing changes.
  await imported([plain, ndjson, csv], 0)
  const { stdout } = await catalejoHere(['export', ...on(other), '--fields', 'all', '--format', 'ndjson'])
  // By the clock of the system, the time for objections is over.
  const later = ndjson.replaceAll(`"${until}"`, 'null')
  assert.deepEqual(stdout.split('\n').toSorted(), later.split('\n').toSorted())

  // What it says replaces what is there; a new status alone makes a record unseen.
  const [, , , uno = ''] = csv.split('\r\n')
  await update(other, [
    { domain: 'tres', seen: 1, note: 'otra', tags: ['x'] },
    { domain: 'dos', seen: 1 },
  ])
  await imported([csv], 2)
  const file = join(folder.path, 'vendido')
  const sold = `uno,3,grupo,0,0,0,0,${at},${now},${now},`
  await writeFile(file, `${HEAD}\r\n${sold}\r\n`)
  assert.equal((await import_(other, file)).code, 0)
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
  await writeFile(file, lines.join('\n'))
  const { messages } = await import_(other, file)
  assert.deepEqual(
    messages.slice(0, 3),
    Object.values(bad).map(([, msg], i) => `${file}:${i + 1}: ${msg}`),
  )
})

test('the lists of the registry load while the service runs; bad lines are reported individually', async () => {
  await using service = await startService()
  await using folder = await temporaryFolder()
  const file = async (name: string, lines: readonly string[]) => {
    const path = join(folder.path, name)
    await writeFile(path, `${lines.join('\n')}\n`)
    return path
  }
  const registered = await file('alta.csv', [
    'Nombre Dominio,Fecha Inscripción',
    'uno.cl,2025-12-31 10:00:00',
    '-malo.cl,2025-12-31 09:00:00',
    '"dos.cl,2025-12-31 08:30:00',
    'ñandú.cl,2025-12-31 08:00:00',
    'uno.cl,2024-01-01 00:00:00',
    'tres.cl,2025-02-30 00:00:00',
  ])
  const dry = await import_(service, '--dry-run', registered)
  assert.equal(
    dry.stdout,
    `${registered}: 3 records, 2 would be new, 0 would change, 1 would stay, 3 lines refused\n`,
  )
  assert.deepEqual(await names(service), [])

  assert.deepEqual(await import_(service, registered), {
    code: 1,
    stdout: `${registered}: 3 records, 2 new or changed, 3 lines refused\n`,
    messages: [
      `${registered}:3: El nombre no es un dominio .cl válido`,
      `${registered}:4: La línea no es CSV válido`,
      `${registered}:7: La fecha de inscripción no es válida`,
    ],
  })
  await eventually(async () => (await names(service)).length === 2, 'the list has what the command stored')
  const shown = (await records(service)).map(({ name, agent, status, date_reg }) => [
    name,
    agent,
    status,
    date_reg,
  ])
  assert.deepEqual(shown, [
    ['uno', 'grupo', 1, '2025-12-31 10:00:00'],
    ['ñandú', 'grupo', 1, '2025-12-31 08:00:00'],
  ])

  await update(service, [{ domain: 'uno', revision: 1 }])
  const released = await file('baja.txt', ['uno.cl', 'nuevo.cl'])
  const tried = await import_(service, '--dry-run', released)
  assert.equal(
    tried.stdout,
    `${released}: 2 records, 1 would be new, 1 would change, 0 would stay, 0 lines refused\n`,
  )
  assert.deepEqual(await names(service, { last_deleted: 10 }), [])
  assert.equal((await import_(service, released)).code, 0)
  await eventually(
    async () => (await names(service, { last_deleted: 10 })).length === 2,
    'the list has what the command stored',
  )
  assert.deepEqual(await names(service, { last_deleted: 10 }), ['uno', 'nuevo'])
  const [uno] = await records(service, { search: 'uno' })
  assert.deepEqual([uno?.status, uno?.revision, uno?.date_reg], [0, 1, '2025-12-31 10:00:00'])
  // The older list again takes no deletion back.
  assert.match((await import_(service, registered)).stdout, / 0 new or changed/)
  assert.deepEqual(await names(service, { status: 1 }), ['ñandú'])
})

test('numbers of names are imported from files, and again with --restart', async () => {
  await using service = await startService()
  await using folder = await temporaryFolder()
  await stored(service, [record('uno'), record('dos')])
  const path = join(folder.path, 'numeros.csv')
  await writeFile(path, 'name;key;number\nuno.cl;volumen;12.50\ndos;volumen;mucho\nno-anotado;volumen;3\n')
  const { code, stdout, messages } = await import_(service, path)
  assert.deepEqual([code, stdout], [1, `${path}: 2 records, 2 new or changed, 1 line refused\n`])
  assert.deepEqual(messages, [`${path}:3: El campo number debe ser un número decimal, como -12 o 3.5`])
  await eventually(
    async () => (await names(service, { num_volumen_min: 12.5 })).join() === 'uno',
    'the list has it',
  )
  await writeFile(path, 'uno,volumen,-1\n')
  const again = await import_(service, '--format', 'numbers', '--restart', path)
  assert.deepEqual([again.code, again.stdout], [0, `${path}: 1 record, 1 new or changed, 0 lines refused\n`])
  await eventually(
    async () => (await names(service, { num_volumen_max: -1 })).join() === 'uno',
    'the list has it',
  )
})
