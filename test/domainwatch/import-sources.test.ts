import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { openDestination } from '../../src/domainwatch/import/import-list.ts'
import type { ImportFormat } from '../../src/domainwatch/import/format.ts'
import { importLines } from '../../src/domainwatch/import/importer.ts'
import { readLines } from '../../src/domainwatch/import/source.ts'
import type { StoreRows } from '../../src/domainwatch/import/writer.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { catalejoHere, messagesIn } from '../support/cli.ts'
import { list, names, record, stored } from '../support/domains.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'
import { countOf } from '../../src/lib/text.ts'

const COMMAND = fileURLToPath(new URL('../../bin/catalejo.js', import.meta.url))

function on(service: TestService): string[] {
  const { databaseUrl } = service.app.context.config
  return ['--data', service.data, ...(databaseUrl === '' ? [] : ['--database-url', databaseUrl])]
}

/**
 * The registry's list of this many registrations. Their dates differ, so that gzip does not compress them to almost
 * nothing.
 */
function registrations(count: number): string {
  const date = (i: number) => new Date(Date.UTC(2025, 0, 1) + ((i * 7_919_317) % 30_000_000) * 1_000)
  const lines = Array.from({ length: count }, (_, i) => `n${i}.cl,${date(i).toISOString().slice(0, 19)}`)
  return `Nombre Dominio,Fecha Inscripción\n${lines.join('\n')}\n`
}

test('an unreadable file is reported in one line, and the others are loaded', async () => {
  await using service = await startService()
  await using folder = await temporaryFolder()
  const [cut, good] = [join(folder.path, 'cortado.csv.gz'), join(folder.path, 'bueno.txt')]
  const packed = gzipSync(registrations(3_000))
  await writeFile(cut, packed.subarray(0, packed.length / 2))
  await writeFile(good, 'bueno.cl\n')
  const missing = join(folder.path, 'nada.csv')
  const { code, stdout, stderr } = await catalejoHere([
    'import',
    ...on(service),
    missing,
    folder.path,
    cut,
    good,
  ])
  assert.equal(code, 1)
  assert.deepEqual(messagesIn(stderr), [
    `${missing}: ENOENT: no such file or directory, stat '${missing}'`,
    `${folder.path}: it is a folder`,
    `${cut}: cannot be read to its end: unexpected end of file`,
  ])
  const [, read] = /cortado\.csv\.gz: (\d+) records, \1 new or changed, 0 lines refused\n/.exec(stdout) ?? []
  assert.ok(Number(read) > 500 && Number(read) < 3_000, stdout)
  assert.match(stdout, /bueno\.txt: 1 record, 1 new or changed, 0 lines refused\n$/)
  // Not half a line either.
  assert.equal((await names(service, { search: `n${read}` })).length, 0)
  assert.equal((await list(service, { search: `n${Number(read) - 1}` })).count, 1)
})

test('a database error is reported in one line for all files', async () => {
  await using service = await startService()
  await using folder = await temporaryFolder()
  const [first, second] = [join(folder.path, 'uno.csv'), join(folder.path, 'dos.csv')]
  await writeFile(first, registrations(3))
  await writeFile(second, registrations(3))
  await service.sql('ALTER TABLE last_adds RENAME TO elsewhere')
  const { code, stdout, stderr } = await catalejoHere(['import', ...on(service), first, second])
  assert.deepEqual([code, stdout], [1, ''])
  const messages = messagesIn(stderr)
  assert.equal(messages.length, 1, stderr)
  assert.match(
    messages[0] ?? '',
    /uno\.csv: not all of it was stored, run the command again to continue: .*\blast_adds\b/,
  )
})

test('standard input is the default, and loaded records have the account as author', async () => {
  await using service = await startService()
  const child = spawn(process.execPath, [COMMAND, 'import', ...on(service)], { env: {} })
  child.stdin.end(gzipSync(registrations(2)))
  const [code] = await once(child, 'close')
  assert.equal(code, 0)
  assert.deepEqual((await names(service)).toSorted(), ['n0', 'n1'])
  const query = { api: service.domainKey, domain: 'n1' }
  const { text } = await call(service, '/api/v1/domainwatch/history', { query })
  assert.match(text, /"count":1,"data":\[\{"date":"[^"]+","account":"grupo","kind":"added"/)
})

test('lists with any header, also concatenated, are loaded; other files store nothing', async () => {
  await using service = await startService()
  await using folder = await temporaryFolder()
  const run = async (name: string, text: string | Buffer) => {
    const path = join(folder.path, name)
    await writeFile(path, text)
    const { code, stdout, stderr } = await catalejoHere(['import', ...on(service), path])
    return [code, stdout.replaceAll(path, name), stderr.replaceAll(path, name).split('\n').at(-2)]
  }
  const count = (name: string, lines: number) =>
    `${name}: ${countOf(lines, 'record')}, ${lines} new or changed, 0 lines refused\n`

  const list = (name: string) =>
    gzipSync(`\uFEFFNombre Dominio,Fecha Inscripción\r\n${name}.cl,2025-12-31 10:00:00\r\n`)
  const joined = await run('juntas.csv.gz', Buffer.concat([list('uno'), list('dos')]))
  assert.deepEqual(joined.slice(0, 2), [0, count('juntas.csv.gz', 2)])
  const tabs = await run('hoja.tsv', 'Nombre Dominio\tFecha Inscripción\ntres.cl\t31-12-2025\n')
  assert.deepEqual(tabs.slice(0, 2), [0, count('hoja.tsv', 1)])
  const deletions = await run('bajas.txt', 'Nombre Dominio\n\ncuatro.cl\n')
  assert.deepEqual(deletions.slice(0, 2), [0, count('bajas.txt', 1)])
  assert.deepEqual((await names(service)).toSorted(), ['cuatro', 'dos', 'tres', 'uno'])

  const page = '<!DOCTYPE html>\n<html lang="es">\nerror\n<p>\nmantenimiento\n</p>\n</html>\n'
  const none = {
    'mac.csv': 'Nombre Dominio,Fecha Inscripción\rcinco.cl,2025-12-31 10:00:00\r',
    'pagina.txt': page,
    'imagen.txt': Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'), Buffer.from('\nx\n')]),
    'dos-octetos.csv': Buffer.from('\uFEFFNombre Dominio,Fecha Inscripción\nseis.cl,2025-12-31\n', 'utf16le'),
  }
  const why = 'neither a list of the registry nor an export (--format sets the format)'
  for (const [name, text] of Object.entries(none))
    assert.deepEqual(await run(name, text), [1, '', `${name}: ${why}`])
  assert.equal((await names(service)).length, 4)
})

test('a CSV of another version is recognised by the fields that every export has, whatever its other columns', async () => {
  await using service = await startService({ clock: new ManualClock('2026-01-15T12:00:00Z') })
  await stored(service, [record('uno'), record('dos', { reserve: 1, agent: 'a,"b"' })])
  const exported = async (from: TestService) =>
    (await call(from, '/api/v1/domainwatch/export', { query: { api: from.domainKey, sort: 'asc' } })).text
  const text = await exported(service)
  const lines = text.trimEnd().split('\r\n')
  const required = lines[0]?.replace(',deleted_at,discarded_at', '')
  // Both values are empty in records that are bought and not discarded.
  const older = [required, ...lines.slice(1).map((line) => line.replace(/,,$/, ''))]
  const newer = lines.map((line, i) => `${line},${i === 0 ? 'later' : 'x'}`)

  await using folder = await temporaryFolder()
  for (const [name, file] of Object.entries({ older, newer })) {
    await using other = await startService()
    const path = join(folder.path, `${name}.csv`)
    await writeFile(path, file.join('\r\n'))
    const { code, stdout, stderr } = await catalejoHere(['import', ...on(other), path])
    assert.deepEqual(
      [code, stdout, messagesIn(stderr)],
      [0, `${path}: 2 records, 2 new or changed, 0 lines refused\n`, []],
    )
    assert.equal(await exported(other), text)
  }
})

test('an interrupted import resumes', async () => {
  await using service = await startService()
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'baja.txt')
  const lines = Array.from({ length: 25_000 }, (_, i) => `n${i}.cl`)
  await writeFile(path, `${lines.join('\n')}\n`)
  const { database, config, dictionary } = service.app.context
  const [account] = await service.app.context.accounts.ofService('domainwatch')
  assert.ok(account !== undefined)
  const { split } = dictionary
  const target = { database, clock: systemClock, timeZone: config.timeZone, split, account }
  const at = Date.now()
  const listedBy = () => ({ source: 'bajas', window: 'month', at, digest: '', isForced: false }) as const
  const options = {
    clock: systemClock,
    timeZone: config.timeZone,
    split,
    restores: true,
  }
  /** @param store replaces that of the list */
  const destination = (replace: (store: StoreRows) => StoreRows) => async (format: ImportFormat) => {
    const opened = await openDestination(target, format, { restores: true, listedBy })
    return { ...opened, store: replace(opened.store) }
  }
  let batches = 0
  let reached
  await assert.rejects(
    importLines(readLines(createReadStream(path)), {
      ...options,
      open: destination(
        (store) => (batch) => (++batches === 2 ? Promise.reject(new Error('cut off')) : store(batch)),
      ),
      stored: async (now) => void (reached = now),
    }),
    /cut off/,
  )
  // In the order of names.
  const name = lines.map((line) => line.slice(0, -3)).toSorted()[9_999]
  assert.deepEqual(reached, {
    line: 0,
    counts: { read: 0, added: 10_000, changed: 10_000, refused: 0 },
    part: { to: 25_000, name },
  })
  let rest = 0
  // The report counts what was stored, not what was read.
  const reports: number[] = []
  const outcome = await importLines(readLines(createReadStream(path)), {
    ...options,
    after: reached,
    source: { read: () => 3_000, stored: (amount) => void reports.push(amount, rest) },
    open: destination((store) => (batch) => {
      rest += batch.names.length
      return store(batch)
    }),
  })
  assert.equal(rest, 15_000)
  assert.deepEqual(reports.slice(0, 2), [2_000, 10_000])
  assert.deepEqual(reports.slice(-2), [3_000, 15_000])
  assert.deepEqual(outcome, {
    kind: 'imported',
    counts: { read: 25_000, added: 25_000, changed: 25_000, refused: 0 },
    faults: [],
    skipped: undefined,
    list: { gap: undefined },
  })
})

test('a closed pipe ends a command silently, a full disk is reported', async () => {
  await using service = await startService()
  for (const words of [['export', ...on(service)], ['audit', ...on(service)], ['--help']]) {
    const child = spawn(process.execPath, [COMMAND, ...words], { env: {} })
    let stderr = ''
    child.stderr.on('data', (chunk) => (stderr += String(chunk)))
    child.stdout.destroy()
    const [code] = await once(child, 'close')
    assert.deepEqual([code, stderr], [0, ''], words[0])
  }

  await using full = await open('/dev/full', 'w')
  const failing = spawn(process.execPath, [COMMAND, 'export', ...on(service)], {
    env: {},
    stdio: ['ignore', full.fd, 'pipe'],
  })
  let written = ''
  failing.stderr?.on('data', (chunk) => (written += String(chunk)))
  const [failed] = await once(failing, 'close')
  assert.equal(failed, 1)
  assert.match(written, /^catalejo: the output could not be written: ENOSPC[^\n]*\n$/)
})
