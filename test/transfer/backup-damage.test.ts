import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { catalejoHere, killedAfter } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ImageClient } from '../support/images.ts'
import { filesUnder, flip, folders, nameOf, succeeds } from './backups.ts'
import { populate, getImages, portrait, startHere } from './portrait.ts'

suite('damaged and interrupted backups', { timeout: 400_000 }, () => {
  test('a damaged or missing table file is reported, and nothing is restored', async () => {
    await using service = await startHere()
    await using made = await folders()
    const [backups, place] = made
    const keys = await populate(service, 50)
    await succeeds(['backup', backups, '--data', service.data])
    const tables = await filesUnder(join(backups, 'tables'))
    const [domains = '', images = ''] = ['-domains-', '-images-'].map((part) =>
      tables.find((path) => path.includes(part)),
    )
    const whole = await readFile(domains)
    await flip(domains)
    await rm(images)
    const { code, stderr, stdout } = await catalejoHere(['restore', backups, '--data', place])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, new RegExp(`${nameOf(domains)} is damaged`))
    assert.match(stderr, new RegExp(`${nameOf(images)} is missing`))
    assert.match(stderr, /nothing was restored/)
    assert.deepEqual(await readdir(place), [])

    // Without a manifest it does not exist, and the next one is whole.
    await writeFile(domains, whole)
    const [manifest = ''] = await filesUnder(join(backups, 'manifests'))
    const text = await readFile(manifest)
    await flip(manifest)
    assert.match(
      (await catalejoHere(['restore', backups, '--data', place])).stderr,
      /its manifest is damaged/,
    )
    await rm(manifest)
    assert.match((await catalejoHere(['restore', backups, '--data', place])).stderr, /there is none/)
    assert.ok(text.length > 0)
    await succeeds(['backup', backups, '--data', service.data])
    await succeeds(['restore', backups, '--data', place])
    await using copy = await startHere({ data: place })
    assert.deepEqual(await portrait(copy, keys), await portrait(service, keys))
  })

  test('damaged and missing images are reported; everything else is restored', async () => {
    await using service = await startHere()
    await using made = await folders()
    const [backups, place] = made
    const keys = await populate(service, 10)
    await succeeds(['backup', backups, '--data', service.data])
    const [rotten = '', lost = ''] = await filesUnder(join(backups, 'images'))
    await flip(rotten)
    await rm(lost)
    const { code, stderr, stdout } = await catalejoHere(['restore', backups, '--data', place])
    assert.equal(code, 1)
    assert.match(stdout, /5 images copied/)
    assert.match(stderr, new RegExp(`image ${nameOf(rotten)}: damaged`))
    assert.match(stderr, new RegExp(`image ${nameOf(lost)}: missing`))
    assert.match(stderr, /2 of 7 images could not be restored/)
    await using copy = await startHere({ data: place })
    const images = new ImageClient(copy.url, keys.imageKey)
    assert.equal((await images.list({ limit: '100' })).body['count'], 4)
    assert.equal((await images.list({ trash: '1' })).body['count'], 1)

    // Damage in the instance itself is reported by a backup.
    const [own = ''] = (await filesUnder(join(service.data, 'blobs'))).filter(
      (path) => nameOf(path) !== 'owner',
    )
    await flip(own)
    await using other = await temporaryFolder()
    const damaged = await catalejoHere(['backup', other.path, '--data', service.data, '--keep', '1'])
    assert.equal(damaged.code, 1)
    assert.match(damaged.stderr, new RegExp(`image ${nameOf(own)}: damaged`))
  })

  test('a killed restore is repeated', async () => {
    await using service = await startHere()
    await using made = await folders()
    const [backups, place] = made
    const keys = await populate(service)
    await succeeds(['backup', backups, '--data', service.data])
    const args = ['restore', backups, '--data', place]
    await killedAfter('keys: ', args)
    await assert.rejects(startHere({ data: place }), /an incomplete copy/)
    await succeeds(args)
    await using copy = await startHere({ data: place })
    assert.deepEqual(await portrait(copy, keys), await portrait(service, keys))
    await getImages(copy, keys.imageKey)
  })
})
