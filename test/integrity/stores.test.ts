/** What `catalejo verify` makes of stores that fail, change meanwhile, or are another's: nothing is lost by looking. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { BlobStore } from '../../src/storage/blobs/blob-store.ts'
import { getSweeps } from '../durability/sweeps.ts'
import { bytesOf, expectedHash, ImageClient, plain, stamped } from '../support/images.ts'
import { startService } from '../support/service.ts'
import { HOUR, keyOf, listed, look, NO_REPAIRS, png, put } from './looking.ts'

suite('verify: stores', { timeout: 400_000 }, () => {
  test('an unresponsive store does not mark images as lost', async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    await fotos.upload(png)
    const key = await keyOf(service, png)
    const { blobs } = service.app.context
    const silent: BlobStore = { ...blobs, openWhole: () => Promise.reject(new Error('no answer')) }
    const { found, repaired } = await look(service, { repair: true, blobs: silent })
    assert.deepEqual(found, { unreadable: [`${key}: no answer`] })
    assert.deepEqual(repaired, NO_REPAIRS)
    // Nor do bytes that were misread once.
    let misread = true
    const flickering: BlobStore = {
      ...blobs,
      openWhole: async (one) => {
        if (!misread) return blobs.openWhole(one)
        misread = false
        return { size: 1, body: (await blobs.openWhole(one))?.body ?? assert.fail() }
      },
    }
    assert.deepEqual((await look(service, { repair: true, blobs: flickering })).found, {})
  })

  test('images deleted or uploaded during the check are not faults', async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    const { blobs } = service.app.context
    const sweeps = getSweeps(service)
    const [first, second] = [stamped(png, 'first'), stamped(png, 'second')]
    for (const picture of [first, second]) await fotos.upload(picture)
    const forget = async (picture: Buffer) => {
      await fotos.remove(expectedHash(picture))
      await sweeps.trash()
    }
    const firstKey = await keyOf(service, first)
    const changing: BlobStore = {
      ...blobs,
      // Between the look at the record and the one at the bytes the image is deleted and uploaded again.
      async openWhole(key) {
        if (key !== firstKey) return blobs.openWhole(key)
        await forget(first)
        await fotos.upload(first)
        return blobs.openWhole(key)
      },
      // Between its listing and its look-up another goes.
      async *keys() {
        const all: { key: string; writtenAt: number }[] = []
        for await (const one of blobs.keys()) all.push(one)
        await forget(second)
        yield* all
      },
    }
    const { found, repaired } = await look(service, { repair: true, blobs: changing })
    assert.deepEqual(found, {})
    assert.deepEqual(repaired, NO_REPAIRS)
    assert.ok((await bytesOf(await fotos.link(expectedHash(first)))).equals(first))
  })

  test("another database's store is left alone: nothing swept, repaired or written, until it is claimed", async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    await fotos.upload(png)
    const { blobs } = service.app.context
    const key = await keyOf(service, png)
    await blobs.remove(key)
    await put(service, 'zz-orphan', png)
    await blobs.clearOwner()
    await blobs.owner('other')

    assert.deepEqual(await getSweeps(service).orphans(-HOUR), { kind: 'foreign', owner: 'other' })
    const foreign = await look(service, { repair: true })
    assert.deepEqual(foreign.found, {
      missing: [key],
      orphaned: ['zz-orphan'],
      store: ['the image store belongs to another database, other'],
    })
    assert.deepEqual(foreign.repaired, NO_REPAIRS)
    await service.stop()

    await using again = await startService({ data: service.data })
    const client = new ImageClient(again.url, again.imageKey)
    const refused = await client.upload(stamped(png, 'new'))
    assert.deepEqual(plain(refused).status, 500)
    assert.equal((await fetch(`${again.url}/readyz`)).status, 503)
    assert.match(await again.log(), /the image store belongs to another database, other/)
    assert.deepEqual(await listed(again), ['zz-orphan'])

    const claimed = await look(again, { repair: true, claim: true })
    assert.deepEqual(Object.keys(claimed.found), ['missing', 'orphaned'])
    assert.deepEqual(claimed.repaired, { ...NO_REPAIRS, markedLost: 1, removed: 1 })
  })

  test('a store without an owner and without our images is not claimed', async () => {
    await using service = await startService()
    const fotos = new ImageClient(service.url, service.imageKey)
    await fotos.upload(png)
    const { blobs } = service.app.context
    const key = await keyOf(service, png)
    await blobs.clearOwner()
    // Its own images are there: it is claimed again.
    assert.deepEqual((await getSweeps(service).orphans(0)).kind, 'swept')
    await blobs.clearOwner()
    await blobs.remove(key)
    assert.deepEqual(await getSweeps(service).orphans(0), { kind: 'strange' })
    assert.equal(await blobs.owner(), undefined)
    assert.equal((await look(service, { repair: true })).repaired.markedLost, 0)
  })
})
