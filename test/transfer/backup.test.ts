import assert from 'node:assert/strict'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openInstance } from '../../src/operations/transfer/instance.ts'
import { SCHEMA } from '../../src/storage/database/migrations/index.ts'
import { isCopied, getTables, toPages } from '../../src/storage/database/tables.ts'
import { beginHold, endHold, heldUntil } from '../../src/storage/database/transfer-marks.ts'
import { getSweeps } from '../durability/sweeps.ts'
import { catalejo, catalejoHere } from '../support/cli.ts'
import { walk } from '../support/domains.ts'
import { temporaryFolder } from '../support/folder.ts'
import { expectedHash, ImageClient } from '../support/images.ts'
import { filesUnder, folders, nameOf, succeeds } from './backups.ts'
import { populate, getImages, keepWriting, picture, portrait, startHere } from './portrait.ts'

/** The rows of all tables that a copy has, those included that triggers maintain. */
async function tablesOfData(data: string): Promise<Record<string, readonly string[]>> {
  await using instance = await openInstance(
    { data, databaseUrl: '', blobsUrl: undefined },
    { existing: true },
  )
  const { dialect, scanner } = instance.database
  const found: Record<string, readonly string[]> = {}
  for (const table of getTables(SCHEMA)) {
    if (!isCopied(table) && !table.name.startsWith('image_')) continue
    const rows: string[] = []
    for await (const page of toPages(scanner, dialect, table)) rows.push(...page)
    found[table.name] = rows
  }
  return found
}

suite('backup and restore', { timeout: 400_000 }, () => {
  test('a second snapshot copies only new images; each restores its state; older ones are pruned', async () => {
    await using service = await startHere()
    await using backups = await temporaryFolder()
    const data = ['--data', service.data]
    const keys = await populate(service)
    const first = await portrait(service, keys)
    assert.match(
      await succeeds(['backup', backups.path, ...data]),
      /; 7 images copied \(\S+ MB\), 0 there before\n$/,
    )

    const client = new ImageClient(service.url, keys.imageKey)
    assert.equal((await client.upload(await picture('después'))).status, 200)
    assert.equal((await client.remove(expectedHash(await picture('foto 1')))).status, 200)
    const second = await portrait(service, keys)
    assert.match(
      await succeeds(['backup', backups.path, ...data]),
      /; 1 image copied \(\S+ MB\), 6 there before\n$/,
    )

    const [older = '', newer = ''] = (await filesUnder(join(backups.path, 'manifests')))
      .map(nameOf)
      .toSorted()
    await using place = await temporaryFolder()
    await succeeds(['restore', backups.path, '--snapshot', older.replace('.json', ''), '--data', place.path])
    const restored = await startHere({ data: place.path })
    assert.deepEqual(await portrait(restored, keys), first)
    await restored.stop()
    const full = await catalejoHere(['restore', backups.path, '--data', place.path])
    assert.equal(full.code, 1)
    assert.match(full.stderr, /the instance is not empty/)

    // As another keeper of backups would leave it: what a snapshot without a manifest needs is not there.
    await writeFile(join(backups.path, 'tables', '20', '20200101T000000000Z-domains-1.ndjson.gz'), 'resto')
    assert.match(
      await succeeds(['backup', backups.path, ...data, '--keep', '2']),
      /removed 1 snapshot, \d+ files, 1 image\n$/,
    )
    assert.deepEqual((await filesUnder(join(backups.path, 'manifests'))).map(nameOf).includes(newer), true)
    await using last = await temporaryFolder()
    await succeeds(['restore', backups.path, '--data', last.path])
    await using latest = await startHere({ data: last.path })
    assert.deepEqual(await portrait(latest, keys), second)
  })

  test('a copy has every row of every table', async () => {
    await using service = await startHere()
    await using made = await folders()
    const [backups, place] = made
    await populate(service, 20)
    await service.stop()
    await succeeds(['backup', backups, '--data', service.data])
    await succeeds(['restore', backups, '--data', place])
    const [source, copy] = await Promise.all([service.data, place].map(tablesOfData))
    assert.deepEqual(copy, source)
    assert.ok(Number(source?.['changes']?.length) > 20)
  })

  test('a backup of version 0.1.0 is restored, and migrated', async () => {
    await using place = await temporaryFolder()
    const backups = fileURLToPath(new URL('../fixtures/backup-0.1.0', import.meta.url))
    await using copied = await temporaryFolder()
    await cp(backups, copied.path, { recursive: true })
    assert.match(await succeeds(['restore', copied.path, '--data', place.path]), /: 63 rows; 7 images copied/)
    await using service = await startHere({ data: place.path })
    // The one that was discarded is purged later.
    const names = (await walk(service, {})).map(({ name }) => name).filter((name) => name !== 'nombre1')
    assert.deepEqual(names.toSorted(), ['año', 'nombre0', 'nombre2', 'nombre3', 'nombre4', 'ñandú'])
    const { key } = await service.newKey('otra', 'imagestore')
    assert.equal((await getImages(service, service.imageKey)).length, 5)
    assert.equal((await getImages(service, key)).length, 4)
  })

  test('during traffic a snapshot has everything acknowledged before, and every image it names', async () => {
    await using service = await startHere()
    await using made = await folders()
    const [backups, place] = made
    const keys = await populate(service)
    const client = new ImageClient(service.url, keys.imageKey)
    const names = new Set<string>()
    for (let i = 0; i < 30; i++) {
      const bytes = await picture(`previa ${i}`)
      assert.equal((await client.upload(bytes)).status, 200)
      names.add(expectedHash(bytes))
    }
    const doomed = [...names].slice(0, 20)
    const backup = catalejo(['backup', backups, '--data', service.data])
    const writer = keepWriting(service)
    // From the moment it holds, what is deleted has its bytes kept; so all is deleted while it works.
    while ((await heldUntil(service.app.context.database, Date.now())) === undefined) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const hash of doomed) assert.equal((await client.remove(hash)).status, 200)
    await getSweeps(service).trash()
    const { code, stderr } = await backup
    assert.equal(code, 0, stderr)
    const written = await writer.stop()
    // Nobody waits for the next sweep to see that nothing is left behind.
    await getSweeps(service).trash()
    const left = (await filesUnder(join(service.data, 'blobs'))).map((path) => nameOf(path).slice(0, 32))
    for (const hash of doomed) assert.ok(!left.includes(hash))

    await succeeds(['restore', backups, '--data', place])
    await using copy = await startHere({ data: place })
    const { domains, images } = await portrait(copy, keys)
    const found = domains
      .filter(({ name }) => name.startsWith('escrito'))
      .map(({ name }) => Number(name.slice(7)))
    // They were acknowledged one after the other, so a snapshot has a prefix of them.
    assert.deepEqual(
      found.toSorted((a, b) => a - b),
      Array.from({ length: found.length }, (_, i) => i),
    )
    assert.ok(found.length <= written)
    const restored = images[0]?.map((row) =>
      typeof row === 'object' && row !== null && 'hash' in row ? row.hash : '',
    )
    for (const hash of names) if (!doomed.includes(hash)) assert.ok(restored?.includes(hash))
  })

  test('during a backup, deleted images keep their bytes; another backup is refused', async () => {
    await using service = await startHere()
    await using backups = await temporaryFolder()
    const keys = await populate(service, 10)
    const { database } = service.app.context
    const client = new ImageClient(service.url, keys.imageKey)
    const hash = expectedHash(await picture('foto 2'))
    const isThere = async () =>
      (await filesUnder(join(service.data, 'blobs'))).some((path) => nameOf(path).startsWith(hash))

    assert.equal(await beginHold(database, Date.now(), Date.now() + 60_000), undefined)
    const busy = await catalejoHere(['backup', backups.path, '--data', service.data])
    assert.equal(busy.code, 1)
    assert.match(busy.stderr, /another backup or migration is running/)
    assert.equal((await client.remove(hash)).status, 200)
    assert.equal((await client.link(hash)).status, 404)
    const sweeps = getSweeps(service)
    await sweeps.trash()
    await sweeps.orphans(0)
    assert.equal(await isThere(), true)
    await endHold(database)
    // The hold of a killed backup expires.
    assert.equal(await beginHold(database, Date.now(), Date.now() - 1), undefined)
    await sweeps.trash()
    assert.equal(await isThere(), false)
  })

  test('invalid places for backups are rejected', async () => {
    await using service = await startHere()
    await using other = await startHere()
    await using backups = await temporaryFolder()
    for (const inside of [service.data, join(service.data, 'respaldo'), join(service.data, '..')]) {
      const { code, stderr } = await catalejoHere(['backup', inside, '--data', service.data])
      assert.deepEqual([code, /data or images of the instance/.test(stderr)], [1, true], stderr)
    }
    await succeeds(['backup', backups.path, '--data', service.data])
    assert.match(
      (await catalejoHere(['backup', backups.path, '--data', other.data])).stderr,
      /of another instance/,
    )
    assert.equal((await catalejoHere(['backup', 's3://', '--data', other.data])).code, 2)
    assert.equal((await catalejoHere(['backup', '--data', other.data])).code, 2)
    assert.equal((await catalejoHere(['backup', backups.path, '--keep', '0'])).code, 2)
  })
})
