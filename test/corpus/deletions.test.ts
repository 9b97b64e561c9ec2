import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { catalejo, start } from '../support/cli.ts'
import { corpus, inCorpus } from '../support/corpus.ts'
import { add, list, record } from '../support/domains.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'

const folder = new URL('registrations/', corpus)
const DELETED = inCorpus(4_537, 1_100)

test('a list of deletions is stored among many records while requests are answered', async () => {
  await using service = await startService()
  await using files = await temporaryFolder()
  const target = [
    '--data',
    service.data,
    ...(service.databaseUrl === '' ? [] : ['--database-url', service.databaseUrl]),
  ]
  const months = readdirSync(folder).map((file) => new URL(file, folder))
  const loaded = await catalejo(['import', ...target, ...months.map((month) => fileURLToPath(month))])
  assert.equal(loaded.code, 0, loaded.stderr)

  const names = months.flatMap((month) =>
    gunzipSync(readFileSync(month))
      .toString()
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.slice(0, line.indexOf(','))),
  )
  const step = Math.floor(names.length / DELETED)
  const deleted = names.filter((_, i) => i % step === 0).slice(0, DELETED)
  const path = join(files.path, 'eliminados.txt')
  await writeFile(path, `${deleted.join('\n')}\n`)

  const running = start(['import', ...target, '--format', 'deletions', path], {})
  const closed = once(running.child, 'close')
  let isRunning = true
  void closed.then(() => (isRunning = false))
  for (let i = 0; isRunning; i++) assert.equal((await add(service, [record(`entretanto${i}`)])).status, 200)
  await closed
  assert.equal(running.stdout(), `${path}: ${DELETED} records, ${DELETED} new or changed, 0 lines refused\n`)
  assert.equal(running.child.exitCode, 0, running.stderr())
  assert.equal((await list(service, { last_deleted: 1_024 })).count, 1_024)
})
