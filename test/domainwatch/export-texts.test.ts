import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { catalejoHere } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'

const EXPORT = '/api/v1/domainwatch/export'
/** What was stored before agents had to be display names, and what spreadsheets and terminals act on. */
const PARTS = [
  '=',
  '+',
  '-',
  '@',
  "'",
  '"',
  ',',
  ';',
  '\t',
  '\r',
  '\n',
  '\\',
  'u202e',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u0007',
  '\u009b',
  '\u2028',
  '\ufeff',
  'ñ',
  '🔭',
  ' ',
  'a',
]
const agent = fc
  .oneof(
    fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  )
  .filter((text) => text.trim() !== '' && text.isWellFormed() && !text.includes('\0'))
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\ufeff]/u
const FORMULAS = [
  '=1+1',
  '+1',
  '-1',
  '@SUMA(A1)',
  '\t=1',
  '\r=1',
  "'=1",
  "''=1",
  '=cmd|"/c calc"!A1',
  '\\u202e',
]

async function exported(service: TestService, format: string): Promise<string> {
  return (await call(service, EXPORT, { query: { api: service.domainKey, format, sort: 'asc' } })).text
}

async function load(service: TestService, file: string): Promise<void> {
  const target = [
    '--data',
    service.data,
    ...(service.databaseUrl === '' ? [] : ['--database-url', service.databaseUrl]),
  ]
  const { code, stderr } = await catalejoHere(['import', ...target, file])
  assert.equal(code, 0, stderr)
}

test('for any agents an export has no formula and no control character, and imports unchanged', async () => {
  await using folder = await temporaryFolder()
  const agents = [...FORMULAS, ...fc.sample(agent, 400)]
  const date = '2025-12-31 14:30:34'
  const lines = agents.map((text, i) => {
    const name = `n${String(i).padStart(4, '0')}`
    const flags = { status: 1, reserved: 0, revision: 0, discarded: 0 }
    return JSON.stringify({ name, length: 5, agent: text, ...flags, date_reg: date, date_mod: date })
  })
  const source = join(folder.path, 'antes.ndjson')
  await writeFile(source, lines.join('\n'))
  await using service = await startService()
  await load(service, source)
  const [csv, ndjson] = [await exported(service, 'csv'), await exported(service, 'ndjson')]
  const stored = ndjson
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
  assert.partialDeepStrictEqual(
    stored,
    agents.map((text) => ({ agent: text })),
  )

  // By whichever separator a spreadsheet cuts the lines.
  assert.ok(!/(^|[,;\n"])[=+\-@\t]/.test(csv))
  assert.ok(!UNSHOWN.test(csv.replaceAll('\r\n', '')))
  assert.ok(!UNSHOWN.test(ndjson.replaceAll('\n', '')))

  for (const [name, text] of Object.entries({ 'despues.csv': csv, 'despues.ndjson': ndjson })) {
    const path = join(folder.path, name)
    await writeFile(path, text)
    await using other = await startService()
    await load(other, path)
    assert.equal(await exported(other, 'ndjson'), ndjson)
    assert.equal(await exported(other, 'csv'), csv)
  }
})
