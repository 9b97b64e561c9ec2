import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '../../src/storage/database/sql.ts'
import { catalejoHere } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { expectedHash, gradient, ImageClient } from '../support/images.ts'
import { startService } from '../support/service.ts'

const png = await gradient(20, 10).png().toBuffer()
const TRASH = sql`SELECT key FROM blob_trash`
const SECRET = 'somebody else’s secret'

/** A service whose database names a file outside of its data folder as an image's bytes. */
async function withEdited(work: (place: { data: string; key: string; secret: string }) => Promise<void>) {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  await mkdir(data)
  const secret = join(folder.path, 'secret')
  await writeFile(secret, SECRET)
  await work({ data, secret, key: '../secret' })
}

const edit = (key: string) =>
  `UPDATE blobs SET key = '${key}', size = ${Buffer.byteLength(SECRET)} WHERE hash = '${expectedHash(png)}'`

test('a manipulated database cannot make a link serve, or a deletion remove, a file elsewhere', () =>
  withEdited(async ({ data, key, secret }) => {
    await using service = await startService({ data, flags: { 'blobs-url': '' } })
    const fotos = new ImageClient(service.url, service.imageKey)
    assert.equal((await fotos.upload(png)).status, 200)
    await service.sql(edit(key))
    for (const link of ['', '.png', '.webp', '&m=w_5', '&m=f_auto']) {
      const answer = await fotos.link(expectedHash(png) + link)
      const text = await answer.text()
      assert.equal(answer.status, 500, link)
      assert.ok(!text.includes(SECRET), link)
    }
    assert.equal((await fotos.remove(expectedHash(png))).status, 200)
    const { database } = service.app.context
    await eventually(
      async () => (await database.values(TRASH)).length === 0,
      'what was to be removed is done with',
    )
    assert.equal(await readFile(secret, 'utf8'), SECRET)
  }))

test('a manipulated database cannot make a link serve HTML', async () => {
  await using service = await startService()
  const fotos = new ImageClient(service.url, service.imageKey)
  assert.equal((await fotos.upload(png)).status, 200)
  await service.sql(`UPDATE blobs SET mime = 'text/html' WHERE hash = '${expectedHash(png)}'`)
  for (const link of ['', '', '&m=f_auto']) {
    const answer = await fotos.link(expectedHash(png) + link)
    const type = answer.headers.get('content-type')
    assert.ok(type === 'application/octet-stream' || type === 'image/png', `${link} ${type}`)
    assert.deepEqual([answer.status, (await answer.arrayBuffer()).byteLength > 0], [200, true])
  }
})

test('verify reports such a key, and a backup omits its bytes', () =>
  withEdited(async ({ data, key }) => {
    await using service = await startService({ data, flags: { 'blobs-url': '', 'database-url': '' } })
    assert.equal((await new ImageClient(service.url, service.imageKey).upload(png)).status, 200)
    await service.sql(edit(key))
    await service.stop()
    const verified = await catalejoHere(['verify', '--data', data])
    assert.equal(verified.code, 1)
    assert.match(
      verified.stdout,
      /^ {2}blob "\.\.\/secret": its key is not valid; its key does not begin with its hash/m,
    )
    await using backups = await temporaryFolder()
    const backup = await catalejoHere(['backup', backups.path, '--data', data])
    assert.equal(backup.code, 1)
    assert.match(backup.stderr, /^image "\.\.\/secret": damaged$/m)
    await using copy = await temporaryFolder()
    const migrated = await catalejoHere(['migrate', '--data', data, '--to-data', copy.path])
    assert.equal(migrated.code, 1)
    assert.match(migrated.stderr, /^image "\.\.\/secret": damaged$/m)
  }))
