import assert from 'node:assert/strict'
import { readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { metric } from '../support/http.ts'
import { bytesOf, expectedHash, gradient, ImageClient } from '../support/images.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'
import { filesUnder } from './folders.ts'
import { getSweeps } from './sweeps.ts'

const png = await gradient(20, 10).png().toBuffer()
const MINUTE = 60_000

const blobFiles = ({ data }: TestService) => filesUnder(join(data, 'blobs'))
const stagedFiles = ({ data }: TestService) => readdir(join(data, 'staging'))

suite('leftovers of interrupted work', () => {
  test('old staged files and blobs without a record are removed, others are kept', async () => {
    const clock = new ManualClock(new Date().toISOString())
    await using service = await startService({ clock })
    const fotos = new ImageClient(service.url, service.imageKey)
    await fotos.upload(png)
    const { staging, blobs } = service.app.context
    await staging.write(Buffer.from('cut off while it was checked'))
    await blobs.put('zz-orphan', await staging.write(Buffer.from('cut off before its record')))
    const sweeps = getSweeps(service)

    assert.equal(await sweeps.staged(60 * MINUTE), 0)
    assert.deepEqual(await sweeps.orphans(60 * MINUTE), { kind: 'swept', removed: 0 })
    assert.equal((await stagedFiles(service)).length, 1)
    assert.equal((await blobFiles(service)).length, 2)

    clock.advance(61 * MINUTE)
    assert.equal(await sweeps.staged(60 * MINUTE), 1)
    assert.deepEqual(await sweeps.orphans(60 * MINUTE), { kind: 'swept', removed: 1 })
    assert.deepEqual(await stagedFiles(service), [])
    assert.deepEqual(
      (await blobFiles(service)).map((name) => name.split('.')[0]),
      [expectedHash(png)],
    )
    assert.deepEqual(await bytesOf(await fotos.link(expectedHash(png))), png)
  })

  test('blobs that cannot be removed do not block the removal of others, and are counted', async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    const { blobs } = service.app.context
    const remove = blobs.remove.bind(blobs)
    Object.assign(blobs, { remove: () => Promise.reject(new Error('refused')) })
    for (const side of [30, 31, 32, 33, 34]) {
      const picture = await gradient(side, side).png().toBuffer()
      await fotos.upload(picture)
      await fotos.remove(expectedHash(picture))
    }
    // A sweep gives up after three failures.
    const resisting = (await blobFiles(service)).toSorted().slice(0, 4)
    Object.assign(blobs, {
      remove: (key: string) => (resisting.includes(key) ? Promise.reject(new Error('refused')) : remove(key)),
    })
    await eventually(async () => {
      await getSweeps(service)
        .trash()
        .catch(() => {})
      return (await blobFiles(service)).length === resisting.length
    })
    assert.deepEqual((await blobFiles(service)).toSorted(), resisting)
    assert.equal(await metric(service, 'images_waiting_removals'), 4)
  })

  test('a start on a folder with old leftovers clears them', async () => {
    await using first = await startService()
    await first.stop()
    const staged = join(first.data, 'staging', 'leftover')
    await writeFile(staged, 'x')
    const longAgo = new Date(Date.now() - 120 * MINUTE)
    await utimes(staged, longAgo, longAgo)
    await using second = await startService({ data: first.data })
    // Stopping waits for the sweep that runs at the start.
    await second.stop()
    await assert.rejects(stat(staged))
  })

  test('a client that disconnects during an upload leaves nothing', async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    const picture = await gradient(2_000, 1_500).png().toBuffer()
    const leaving = new AbortController()
    const cut = assert.rejects(fotos.upload(picture, {}, leaving.signal))
    setImmediate(() => leaving.abort())
    await cut
    // The next upload of the same bytes has the same answer, whether the first one came through or not.
    assert.equal((await fotos.upload(picture)).status, 200)
    assert.deepEqual(await bytesOf(await fotos.link(expectedHash(picture))), picture)
    await service.stop()
    assert.deepEqual(await stagedFiles(service), [])
    assert.equal((await blobFiles(service)).length, 1)
  })
})
