import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFile, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { SCHEMA } from '../../src/storage/database/migrations/index.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { catalejo, serve } from '../support/cli.ts'
import { names, record, stored } from '../support/domains.ts'
import { noPostgres } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runStatement } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { smallDisk } from '../support/small-disk.ts'
import { NEWEST as OLD, oldPostgres, oldSqlite } from './released.ts'

const NO_DISK = process.getuid?.() !== 0 && 'only root may mount a small disk'
const COPY = `before-schema-${SCHEMA}.db`
const UPGRADING = new URL('../../docs/operations/upgrading.md', import.meta.url)

/** Everything that a database file holds: its version, and the rows of each table. */
function toContent(path: string): object {
  using db = new DatabaseSync(path, { readOnly: true })
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all()
  return {
    version: db.prepare('PRAGMA user_version').get(),
    faults: db.prepare('PRAGMA integrity_check').all(),
    rows: tables.map(({ name }) => [name, db.prepare(`SELECT * FROM "${String(name)}"`).all()]),
  }
}

/** The commands of the documentation that put the copy back, for a data folder elsewhere and without the service manager. */
async function wayBack(data: string): Promise<string> {
  const text = await readFile(UPGRADING, 'utf8')
  const [, commands = ''] = /## Go back to the former version\n.*?```sh\n(.*?)```/s.exec(text) ?? []
  const here = commands.replace('/var/lib/catalejo', data).replaceAll(/^systemctl .*$/gm, '')
  assert.match(here, /^cp /m)
  return here
}

suite('the way back from an upgrade', { timeout: 300_000 }, () => {
  test('on SQLite, a copy that the documented commands put back', async () => {
    await using folder = await temporaryFolder()
    const path = await oldSqlite(OLD, folder.path)
    const before = toContent(path)
    // From the previous upgrade.
    await writeFile(join(folder.path, 'before-schema-22.db'), '')
    {
      await using service = await serve(['--data', folder.path])
      assert.ok(service.stdout().includes(`copied the database of schema 22 to ${COPY}`), service.stdout())
      const body = new URLSearchParams({ data: JSON.stringify([record('despues')]) })
      const added = await fetch(`${service.url}/api/v1/domainwatch/add?api=clave-del-grupo`, {
        method: 'POST',
        body,
      })
      assert.equal(added.status, 200)
      // Killed: the log of the database stays.
    }
    assert.deepEqual(toContent(join(folder.path, COPY)), before)
    assert.equal((await stat(join(folder.path, COPY))).mode & 0o777, 0o600)
    assert.deepEqual(
      (await readdir(folder.path)).filter((name) => name.startsWith('before')),
      [COPY],
    )
    execFileSync('sh', ['-ec', await wayBack(folder.path)])
    assert.deepEqual(toContent(path), before)
    // As the former version opens it, and once more the new one.
    await (await openSqlite(path, undefined, { schema: Number(OLD) })).close()
    assert.deepEqual(toContent(path), before)
    await using again = await startService({
      data: folder.path,
      flags: { 'database-url': '', 'blobs-url': '' },
    })
    const found = await names({ ...again, domainKey: 'clave-del-grupo' })
    assert.deepEqual([found.length, found.includes('despues')], [7, false])
  })

  test('an upgrade that was interrupted between two steps keeps the copy from before the first', async () => {
    await using folder = await temporaryFolder()
    const copy = join(folder.path, COPY)
    await copyFile(await oldSqlite(OLD, folder.path), copy)
    {
      using db = new DatabaseSync(copy)
      db.exec('PRAGMA user_version = 21')
    }
    const before = toContent(copy)
    await using service = await serve(['--data', folder.path])
    assert.match(service.stdout(), /"from":22,"to":\d+,"msg":"database migrated"/)
    assert.deepEqual(toContent(copy), before)
  })

  test('a start that fails makes no copy', async () => {
    await using folder = await temporaryFolder()
    await using other = await startService()
    const path = await oldSqlite(OLD, folder.path)
    const before = toContent(path)
    const { code } = await catalejo(['serve', '--data', folder.path, '--port', new URL(other.url).port])
    assert.equal(code, 1)
    assert.deepEqual(await readdir(folder.path), ['catalejo.db'])
    assert.deepEqual(toContent(path), before)
  })

  test('without space for a copy, the log says so', { skip: NO_DISK }, async (context) => {
    await using disk = await smallDisk()
    if (disk === undefined) return context.skip('no disk may be mounted here')
    const path = await oldSqlite(OLD, disk.path)
    {
      using db = new DatabaseSync(path)
      // Pages that the upgrade can use, so that only the copy needs space.
      db.exec('CREATE TABLE ballast (x); INSERT INTO ballast VALUES (zeroblob(6000000)); DROP TABLE ballast')
    }
    await using service = await serve(['--data', disk.path])
    assert.match(
      service.stdout(),
      /"level":40.*upgrading the database without a backup: there is no space for a copy of \d+ bytes/,
    )
    assert.match(service.stdout(), /"msg":"database migrated"/)
    assert.deepEqual(
      (await readdir(disk.path)).filter((name) => name.startsWith('before')),
      [],
    )
  })

  test('on PostgreSQL, a snapshot in --backup-to that can be restored', { skip: noPostgres }, async () => {
    await using folder = await temporaryFolder()
    await using place = await temporaryFolder()
    await using target = await temporaryFolder()
    await using database = await oldPostgres(OLD)
    const flags = {
      'database-url': database.url,
      'blobs-url': '',
      'backup-to': place.path,
      'backup-keep': '1',
    }
    const settings = Object.entries({ data: folder.path, ...flags }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ])
    const version = async () => (await runStatement(database.url, 'SELECT version FROM schema_version'))[0]
    // The images of the fixture have no bytes: while some are missing, no snapshot is removed.
    await runStatement(database.url, 'DELETE FROM image_uploads; DELETE FROM images; DELETE FROM blobs')
    // A place that cannot be used prevents the upgrade.
    const file = join(target.path, 'file')
    await writeFile(file, '')
    const { code, stderr } = await catalejo(['serve', '--port', '0', ...settings, '--backup-to', file])
    assert.deepEqual([code, await version()], [1, { version: 22 }], stderr)

    await using service = await startService({ data: folder.path, flags })
    const [, snapshot = ''] =
      /backed up the database of schema 22 as snapshot (\w+)/.exec(await service.log()) ?? []
    assert.notEqual(snapshot, '', await service.log())
    await stored({ ...service, domainKey: 'clave-del-grupo' }, [record('despues')])
    await service.stop()
    // Regular backups neither remove it nor are removed for it.
    const list = async () => {
      const { stdout } = await catalejo(['backup', 'list', ...settings])
      return stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split('\t')[0] ?? '')
    }
    for (let round = 0; round < 2; round++)
      assert.equal((await catalejo(['backup', 'create', ...settings])).code, 0)
    const kept = await list()
    assert.deepEqual([kept.length, kept[0]], [2, snapshot])

    const restored = await catalejo(['restore', place.path, '--snapshot', snapshot, '--data', target.path])
    assert.equal(restored.code, 0, restored.stderr)
    await using copy = await startService({
      data: target.path,
      flags: { 'database-url': '', 'blobs-url': '' },
    })
    const found = await names({ ...copy, domainKey: 'clave-del-grupo' })
    assert.deepEqual([found.length, found.includes('despues')], [7, false])
  })

  test('on PostgreSQL without --backup-to, the log names pg_dump', { skip: noPostgres }, async () => {
    await using folder = await temporaryFolder()
    await using database = await oldPostgres(OLD)
    await using service = await startService({
      data: folder.path,
      flags: { 'database-url': database.url, 'blobs-url': '' },
    })
    assert.match(await service.log(), /upgrading the database without a backup: .* pg_dump before the start/)
  })
})
