// Measures the overhead of the change log: batches of 50,000 rows with and without its triggers, on both engines; and
// small commits by 16 writers on PostgreSQL, with notifications sent in the transaction or after it.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { postgresBatch, sqliteBatch } from '../src/storage/database/batch.ts'
import { openPostgres } from '../src/storage/database/postgres/open.ts'
import { Connection } from '../src/storage/database/sqlite/connection.ts'
import { openSqlite } from '../src/storage/database/sqlite/open.ts'
import { recordDomains } from '../src/domainwatch/queries-batches.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { compare, sampleOf, type Contender, type Sample } from './lib/compare.ts'
import { generateDomains } from './lib/domains.ts'
import { SECONDS } from './lib/options.ts'
import { withWorkspace } from './lib/workspace.ts'

const BATCH = 50_000
const WRITERS = 16
const NOW = '2025-12-31 12:00:00'

const all = generateDomains(150_000)
const toRows = (status: number, from: number, to: number) =>
  all
    .slice(from, to)
    .map(({ domain, length, date_reg }) => [domain, null, length, null, null, status, 0, date_reg])
const fresh = toRows(1, 0, BATCH)
const sold = toRows(0, 0, BATCH)
const others = toRows(1, BATCH, all.length)

type Run = (rows: readonly (readonly (string | number | null)[])[]) => Promise<Sample>

/** Inserts rows, then updates the same rows. */
function contenders(engine: string, prepare: (triggers: boolean) => Promise<Run>): Contender[] {
  const of = (triggers: boolean, change: boolean): Contender => ({
    name: name(triggers, change),
    ...(triggers ? { floor: name(false, change), target: 0.8 } : {}),
    run: async () => {
      const run = await prepare(triggers)
      const added = await run(fresh)
      return change ? run(sold) : added
    },
  })
  const name = (triggers: boolean, change: boolean) =>
    `${engine}: ${change ? 'updated rows' : 'new rows'}, ${triggers ? 'with' : 'without'} a change log`
  return [of(false, false), of(true, false), of(false, true), of(true, true)]
}

await withWorkspace(async (workspace) => {
  const path = join(workspace.folder, 'catalejo.db')
  await (await openSqlite(path)).close()
  const db = new DatabaseSync(path)
  const connection = new Connection(path, 'write')
  const triggers = db.prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`).all()
  const batch: Run = async (rows) => {
    const start = performance.now()
    const cpu = process.cpuUsage()
    connection.exec('BEGIN IMMEDIATE')
    connection.runMany(sqliteBatch(recordDomains), [NOW, 'grupo', 'grupo'], rows)
    connection.exec('COMMIT')
    return sampleOf(rows.length, start, cpu)
  }
  await compare(
    `Batches of ${BATCH} on SQLite, into a table of ${all.length}`,
    contenders('SQLite', async (wanted) => {
      for (const { name } of triggers) db.exec(`DROP TRIGGER IF EXISTS ${String(name)}`)
      db.exec('DELETE FROM domains; DELETE FROM changes')
      await batch(others)
      if (wanted) for (const { sql } of triggers) db.exec(String(sql))
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return batch
    }),
  )
  connection.close()
  db.close()

  const server = workspace.keep(
    await startPostgres(process.env['TEST_POSTGRES_BIN'], [
      'fsync=on',
      'synchronous_commit=on',
      'full_page_writes=on',
    ]),
  )
  await (await openPostgres(server.url)).close()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const load: Run = async (rows) => {
    const json = Buffer.from(JSON.stringify(rows))
    const start = performance.now()
    const cpu = process.cpuUsage()
    await client.query(`BEGIN; SET LOCAL work_mem = '32MB'`)
    await client.query(postgresBatch(recordDomains), [json, NOW, 'grupo', 'grupo'])
    await client.query('COMMIT')
    return sampleOf(rows.length, start, cpu)
  }
  await compare(
    `Batches of ${BATCH} on PostgreSQL, into a table of ${all.length}`,
    contenders('PostgreSQL', async (wanted) => {
      await client.query('ALTER TABLE domains DISABLE TRIGGER USER; TRUNCATE domains, changes')
      await load(others)
      if (wanted) await client.query('ALTER TABLE domains ENABLE TRIGGER USER')
      await client.query('VACUUM ANALYZE domains')
      await client.query('CHECKPOINT')
      return load
    }),
  )

  const writers = await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      const writer = new pg.Client({ connectionString: server.url })
      await writer.connect()
      return writer
    }),
  )
  await client.query('LISTEN catalejo_changes')
  let commits = 0
  const small = async (before: string, after: () => void): Promise<Sample> => {
    await client.query('TRUNCATE blob_trash')
    const start = performance.now()
    const cpu = process.cpuUsage()
    const first = commits
    await Promise.all(
      writers.map(async (writer) => {
        while (performance.now() - start < SECONDS * 1000) {
          await writer.query('BEGIN')
          await writer.query('INSERT INTO blob_trash (key) VALUES ($1)', [`k${commits++}`])
          await writer.query(`${before}COMMIT`)
          after()
        }
      }),
    )
    return sampleOf(commits - first, start, cpu)
  }
  let announcing = false
  const inside = `SELECT pg_notify('catalejo_changes', 'node'); `
  const none = 'no notification'
  await compare(`Commits of ${WRITERS} writers on PostgreSQL`, [
    { name: none, run: () => small('', () => {}) },
    { name: 'notification in the transaction', floor: none, run: () => small(inside, () => {}) },
    {
      name: 'notification after the commit, one at a time',
      floor: none,
      run: () =>
        small('', () => {
          if (announcing) return
          announcing = true
          const again = () => setTimeout(() => (announcing = false), 25)
          void client.query(`SELECT pg_notify('catalejo_changes', 'node')`).then(again, again)
        }),
    },
  ])
  await Promise.all([...writers, client].map((one) => one.end()))
})
