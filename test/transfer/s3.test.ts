import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { catalejo } from '../support/cli.ts'
import { newDatabase, POSTGRES_URL } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { noS3, testBlobsUrl } from '../support/s3.ts'
import { populate, portrait, startHere } from './portrait.ts'

const environment = {
  AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? '',
  AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
}

async function succeeds(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await catalejo(args, environment)
  assert.equal(code, 0, stderr)
  return stdout
}

suite('transfers with an object store', { skip: noS3, timeout: 400_000 }, () => {
  test('from SQLite and files to PostgreSQL and S3, and back', async () => {
    await using there = await temporaryFolder()
    await using back = await temporaryFolder()
    const id = randomBytes(6).toString('hex')
    const blobsUrl = testBlobsUrl(`move-${id}`) ?? ''
    // Where no server runs, the records stay in SQLite.
    await using database = POSTGRES_URL === undefined ? undefined : await newDatabase()
    const url = database?.url ?? ''
    await using service = await startHere()
    const keys = await populate(service)
    const before = await portrait(service, keys)
    const to = ['--to-database-url', url, '--to-blobs-url', blobsUrl, '--to-data', there.path]
    assert.match(await succeeds(['migrate', '--data', service.data, ...to]), /; 7 images copied/)
    const from = ['--database-url', url, '--blobs-url', blobsUrl, '--data', there.path]
    const copy = await startHere({
      data: there.path,
      flags: { 'database-url': url, 'blobs-url': blobsUrl },
    })
    assert.deepEqual(await portrait(copy, keys), before)
    await copy.stop()

    await succeeds(['migrate', ...from, '--to-data', back.path])
    await using home = await startHere({ data: back.path })
    assert.deepEqual(await portrait(home, keys), before)
  })

  test('a backup in an object store: incremental, pruned, restored', async () => {
    await using service = await startHere()
    await using place = await temporaryFolder()
    const backups = testBlobsUrl(`backup-${randomBytes(6).toString('hex')}`) ?? ''
    const keys = await populate(service)
    const data = ['--data', service.data]
    assert.match(await succeeds(['backup', backups, ...data]), /; 7 images copied/)
    assert.match(
      await succeeds(['backup', backups, ...data, '--keep', '1']),
      /; 0 images copied \(0.0 MB\), 7 there before\nremoved 1 snapshot, \d+ files, 0 images\n$/,
    )
    await succeeds(['restore', backups, '--data', place.path])
    await using copy = await startHere({ data: place.path })
    assert.deepEqual(await portrait(copy, keys), await portrait(service, keys))
    assert.deepEqual(await readdir(join(place.path, 'staging')), [])
  })

  test('backups cannot be stored with the images', async () => {
    await using folder = await temporaryFolder()
    const creation = ['key', 'create', '--account', 'a', '--service', 'imagestore']
    await succeeds([...creation, '--data', folder.path])
    const own = testBlobsUrl('inside/images') ?? ''
    const parent = testBlobsUrl('inside') ?? ''
    for (const address of [own, parent]) {
      const { code, stderr } = await catalejo(
        ['backup', address, '--blobs-url', own, '--data', folder.path],
        environment,
      )
      assert.deepEqual([code, /data or images of the instance/.test(stderr)], [1, true], stderr)
    }
  })
})
