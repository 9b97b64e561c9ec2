import assert from 'node:assert/strict'
import { mkdir, open, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { catalejoHere } from '../support/cli.ts'
import { add, record } from '../support/domains.ts'
import { expectedHash, gradient, ImageClient, stamped } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'

/** A stopped service with an image, many domains, and bytes that no record knows. */
async function prepared(): Promise<TestService & { orphan: string }> {
  const service = await startService()
  const png = await gradient(20, 10).png().toBuffer()
  const fotos = new ImageClient(service.url, service.imageKey)
  await fotos.upload(png)
  await fotos.upload(stamped(png, 'b'))
  await add(
    service,
    Array.from({ length: 5_000 }, (_, index) => record(`d${index}`)),
  )
  await service.stop()
  const orphan = join(service.data, 'blobs', 'zz', 'zz-orphan')
  await mkdir(join(service.data, 'blobs', 'zz'))
  await writeFile(orphan, 'x')
  const longAgo = new Date(Date.now() - 7_200_000)
  await utimes(orphan, longAgo, longAgo)
  return Object.assign(service, { orphan })
}

suite('catalejo verify on a damaged database', { timeout: 300_000 }, () => {
  test('reports dangling references', async () => {
    await using service = await prepared()
    const database = new DatabaseSync(join(service.data, 'catalejo.db'), {
      enableForeignKeyConstraints: false,
    })
    const hash = expectedHash(await gradient(20, 10).png().toBuffer())
    database.prepare('DELETE FROM blobs WHERE hash = ?').run(hash)
    database.close()
    const { code, stdout } = await catalejoHere(['verify', '--data', service.data])
    assert.equal(code, 1)
    assert.match(stdout, /^ {2}a row of images refers to a row of blobs that is not there$/m)
    assert.match(
      stdout,
      new RegExp(`^ {2}image ${hash} of account \\d+: there is no record of its bytes$`, 'm'),
    )
  })

  test('reports damaged pages, and removes nothing', async () => {
    await using service = await prepared()
    const path = join(service.data, 'catalejo.db')
    const { size } = await stat(path)
    const file = await open(path, 'r+')
    // A third of the file, from its middle: pages of tables and of indexes.
    await file.write(Buffer.alloc(Math.floor(size / 3), 0x5a), 0, null, Math.floor(size / 8_192) * 4_096)
    await file.close()
    const { code, stdout } = await catalejoHere(['verify', '--repair', '--data', service.data])
    assert.equal(code, 1, stdout)
    assert.match(stdout, /^database: \d+ faults of the database$/m)
    assert.match(stdout, /^ {2}the database is damaged, so the store was not compared with it$/m)
    assert.match(stdout, /^repaired: 0 marked as lost \(0 put in quarantine\), 0 recovered, 0 removed$/m)
    await stat(service.orphan)
  })
})
