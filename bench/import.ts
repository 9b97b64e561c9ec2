// Measures `catalejo import` of a registry's list and `catalejo export` of all records, on both engines: rows per
// second and peak memory. The floor is a bare prepared upsert of the same rows, sorted as `import` sorts them.
// `--only SQLite`, `--only PostgreSQL`: a million names take minutes on each.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqlite } from '../src/storage/database/sqlite/open.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { runCommand, type Ran } from './lib/command.ts'
import { toRecords } from './lib/names.ts'
import { chosen, RECORDS } from './lib/options.ts'
import { loadBare, openBare } from './lib/raw-upsert.ts'
import { withWorkspace } from './lib/workspace.ts'

interface Measured extends Ran {
  readonly what: string
}

await withWorkspace(async (workspace) => {
  const { folder } = workspace
  const records = toRecords(RECORDS)
  const list = join(folder, 'altas.csv')
  const lines = records.map(({ domain, date_reg }) => `${domain}.cl,${date_reg}`)
  await writeFile(list, `Nombre Dominio,Fecha Inscripción\n${lines.join('\n')}\n`)

  const measured: Measured[] = [await raw(join(folder, 'raw.db'))]
  const server = workspace.keep(
    await startPostgres(process.env['TEST_POSTGRES_BIN'], [
      'fsync=on',
      'synchronous_commit=on',
      'full_page_writes=on',
    ]),
  )
  const engines = [
    { engine: 'SQLite', place: ['--data', join(folder, 'data')] },
    { engine: 'PostgreSQL', place: ['--data', join(folder, 'other'), '--database-url', server.url] },
  ]
  for (const { engine, place } of chosen(engines, ({ engine }) => engine)) {
    await runCommand(['key', 'create', '--account', 'grupo', '--service', 'domainwatch', ...place])
    for (const what of ['import', 'import again', 'export']) {
      const words = what === 'export' ? ['export'] : ['import', list]
      const ran = { what: `${engine}: ${what}`, ...(await runCommand([...words, ...place])) }
      measured.push(ran)
      process.stderr.write(`${ran.what}: ${ran.seconds.toFixed(1)} s\n`)
    }
  }

  const floor = measured[0]?.seconds ?? NaN
  console.log(
    `\n### ${RECORDS} names\n\n| | rows per second | ratio to the floor | peak memory |\n|---|---|---|---|`,
  )
  for (const { what, seconds, peakMb } of measured) {
    const rate = Math.round(RECORDS / seconds).toLocaleString('en')
    console.log(`| ${what} | ${rate} | ${(floor / seconds).toFixed(2)} | ${peakMb?.toFixed(0) ?? ''} MB |`)
  }

  async function raw(path: string): Promise<Measured> {
    await (await openSqlite(path)).close()
    const db = openBare(path)
    const start = performance.now()
    loadBare(db, records)
    const seconds = (performance.now() - start) / 1000
    db.close()
    return { what: 'prepared upsert, sorted, 50,000 per transaction', seconds, peakMb: undefined }
  }
})
