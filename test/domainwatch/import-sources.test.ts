import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { importLines } from '../../src/domainwatch/import/importer.ts'
import { readLines } from '../../src/domainwatch/import/source.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { catalejoOn, COMMAND, importText, toDatabaseFlags } from '../support/cli.ts'
import { list, names, removeRecords } from '../support/domains.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const folder = await temporaryFolder()
after(async () => {
  await service[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})
beforeEach(() => removeRecords(service))

/** Runs the command in a process of its own. */
const start = (words: readonly string[], stdout: 'pipe' | number = 'pipe') =>
  spawn(process.execPath, [COMMAND, ...words, ...toDatabaseFlags(service)], {
    env: {},
    stdio: ['pipe', stdout, 'pipe'],
  })

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
  const [cut, good] = [join(folder.path, 'cortado.csv.gz'), join(folder.path, 'bueno.txt')]
  const packed = gzipSync(registrations(3_000))
  await writeFile(cut, packed.subarray(0, packed.length / 2))
  await writeFile(good, 'bueno.cl\n')
  const missing = join(folder.path, 'nada.csv')
  const { code, stdout, messages } = await catalejoOn(service, ['import', missing, folder.path, cut, good])
  assert.equal(code, 1)
  assert.deepEqual(messages, [
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
  const [first, second] = [join(folder.path, 'uno.csv'), join(folder.path, 'dos.csv')]
  await writeFile(first, registrations(3))
  await writeFile(second, registrations(3))
  await service.sql('ALTER TABLE last_adds RENAME TO elsewhere')
  const { code, stdout, messages } = await catalejoOn(service, ['import', first, second])
  await service.sql('ALTER TABLE elsewhere RENAME TO last_adds')
  assert.deepEqual([code, stdout], [1, ''])
  assert.equal(messages.length, 1, messages.join())
  assert.match(
    messages[0] ?? '',
    /uno\.csv: not all of it was stored, run the command again to continue: .*\blast_adds\b/,
  )
})

test('standard input is the default, and loaded records have the account as author', async () => {
  const child = start(['import'])
  child.stdin?.end(gzipSync(registrations(2)))
  const [code] = await once(child, 'close')
  assert.equal(code, 0)
  assert.deepEqual((await names(service)).toSorted(), ['n0', 'n1'])
  const query = { api: service.domainKey, domain: 'n1' }
  const { text } = await call(service, '/api/v1/domainwatch/history', { query })
  assert.match(text, /"data":\[\{"date":"[^"]+","account":"grupo","kind":"added"/)
})

test('concatenated lists are loaded; other files store nothing', async () => {
  const import_ = (text: string | Uint8Array) => importText(service, folder.path, text)
  const list = (name: string) =>
    gzipSync(`\uFEFFNombre Dominio,Fecha Inscripción\r\n${name}.cl,2025-12-31 10:00:00\r\n`)
  const { code, stdout } = await import_(Buffer.concat([list('uno'), list('dos')]))
  assert.deepEqual([code, stdout], [0, '2 records, 2 new or changed, 0 lines refused\n'])
  assert.deepEqual((await names(service)).toSorted(), ['dos', 'uno'])
  for (const text of [
    '<!DOCTYPE html>\n<html lang="es">\nerror\n<p>\nmantenimiento\n</p>\n</html>\n',
    Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'), Buffer.from('\nx\n')]),
    Buffer.from('\uFEFFNombre Dominio,Fecha Inscripción\nseis.cl,2025-12-31\n', 'utf16le'),
  ]) {
    assert.deepEqual(await import_(text), {
      code: 1,
      stdout: '',
      messages: ['neither a list of the registry nor an export (--format sets the format)'],
    })
  }
  assert.equal((await names(service)).length, 2)
})

test('an interrupted import resumes', async () => {
  const path = join(folder.path, 'baja.txt')
  const lines = Array.from({ length: 25_000 }, (_, i) => `n${i}.cl`)
  await writeFile(path, `${lines.join('\n')}\n`)
  const { database, config, dictionary } = service.app.context
  const [account] = await service.app.context.accounts.ofService('domainwatch')
  assert.ok(account !== undefined)
  const { split } = dictionary
  const target = { database, clock: systemClock, timeZone: config.timeZone, split, account }
  const at = Date.now()
  const options = {
    restores: true,
    list: { source: 'bajas', window: 'month', at, digest: '', isForced: false },
  } as const
  /** @param replace called with the number of rows of each transaction that stores some */
  const withTransactions = (replace: (rows: number) => void): typeof target => ({
    ...target,
    database: {
      ...database,
      async transaction(work, changedBy, limits) {
        if (limits?.rows !== undefined) replace(limits.rows)
        return database.transaction(work, changedBy, limits)
      },
    },
  })
  let batches = 0
  let reached
  const cutOff = withTransactions(() => {
    if (++batches === 2) throw new Error('cut off')
  })
  await assert.rejects(
    importLines(readLines(createReadStream(path)), cutOff, {
      ...options,
      stored: async (now) => void (reached = now),
    }),
    /cut off/,
  )
  assert.deepEqual(reached, {
    line: 0,
    counts: { read: 0, added: 10_000, changed: 10_000, refused: 0 },
  })
  let rest = 0
  // The report counts what was stored, not what was read.
  const reports: number[] = []
  const counted = withTransactions((rows) => void (rest += rows))
  const outcome = await importLines(readLines(createReadStream(path)), counted, {
    ...options,
    after: reached,
    source: { read: () => 3_000, stored: (amount) => void reports.push(amount, rest) },
  })
  // Rows that were stored already are stored once more, and change nothing.
  assert.deepEqual(reports, [1_200, 10_000, 2_400, 20_000, 3_000, 25_000])
  assert.deepEqual(outcome, {
    kind: 'imported',
    format: 'deletions',
    counts: { read: 25_000, added: 25_000, changed: 25_000, refused: 0 },
    faults: [],
    skipped: undefined,
    list: { gap: undefined },
  })
})

test('a closed pipe ends a command silently, a full disk is reported', async () => {
  const child = start(['export'])
  let stderr = ''
  child.stderr?.on('data', (chunk) => (stderr += String(chunk)))
  child.stdout?.destroy()
  const [code] = await once(child, 'close')
  assert.deepEqual([code, stderr], [0, ''])

  await using full = await open('/dev/full', 'w')
  const failing = start(['export'], full.fd)
  let written = ''
  failing.stderr?.on('data', (chunk) => (written += String(chunk)))
  const [failed] = await once(failing, 'close')
  assert.equal(failed, 1)
  assert.match(written, /^catalejo: the output could not be written: ENOSPC[^\n]*\n$/)
})
