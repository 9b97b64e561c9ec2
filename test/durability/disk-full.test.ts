import assert from 'node:assert/strict'
import { readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { eventually } from '../support/eventually.ts'
import { expectedHash, gradient, noise, stamped } from '../support/images.ts'
import { fill, smallDisk } from '../support/small-disk.ts'
import { BATCH_NOT_SAVED, waitForRecovery, IMAGE_NOT_SAVED, startSingleNode } from './single-node.ts'

const skip = process.getuid?.() !== 0 && 'only root may mount a small disk'

suite('a full disk', { skip, timeout: 300_000 }, () => {
  test('rejects writes, continues to answer, loses nothing, and accepts writes again', async (context) => {
    await using disk = await smallDisk()
    if (disk === undefined) return context.skip('no disk may be mounted here')
    const png = await gradient(20, 10).png().toBuffer()
    const large = await noise(700, 700).png().toBuffer()
    const pictures = Array.from({ length: 3 }, (_, index) => stamped(png, `foto ${index}`))
    const [first, second, third] = pictures
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    const kept = ['dos', 'uno']
    {
      await using place = await startSingleNode(disk.path)
      assert.equal((await place.add('uno', 'dos')).status, 200)
      for (const picture of [first, second, large]) assert.equal((await place.upload(picture)).status, 200)
      await fill(join(disk.path, 'filler'))

      // The log of the database may have room left from before.
      for (let index = 0; ; index++) {
        assert.ok(index < 2_000, 'the disk never got full')
        const answer = await place.add(`lleno${index}`)
        if (answer.status !== 200) {
          assert.deepEqual(answer, BATCH_NOT_SAVED)
          break
        }
        kept.push(`lleno${index}`)
      }
      for (let round = 0; round < 3; round++) {
        assert.deepEqual(await place.upload(third), IMAGE_NOT_SAVED)
        assert.deepEqual(await place.update('uno'), BATCH_NOT_SAVED)
        assert.deepEqual((await place.names()).toSorted(), kept.toSorted())
        for (const picture of [first, second, large]) await place.expectPicture(picture, true)
        await place.expectPicture(third, false)
      }
      // Deletions free space, so they must still work.
      assert.equal((await place.remove(first)).status, 200)
      assert.equal((await place.remove(large)).status, 200)
      for (const picture of [first, large]) await place.expectPicture(picture, false)
      await rm(join(disk.path, 'filler'))
      await waitForRecovery(() => place.upload(third))
      await waitForRecovery(() => place.remove(second))
      await waitForRecovery(() => place.add('tres'))
      kept.push('tres')
    }
    // It was ended by `kill -9`.
    await using again = await startSingleNode(disk.path)
    assert.deepEqual((await again.names()).toSorted(), kept.toSorted())
    await again.expectPicture(third, true)
    for (const picture of [first, second, large]) await again.expectPicture(picture, false)
  })

  test('space freed by deletions is reused', async (context) => {
    await using disk = await smallDisk()
    if (disk === undefined) return context.skip('no disk may be mounted here')
    const noisy = await noise(700, 700).png().toBuffer()
    const pictures = Array.from({ length: 8 }, (_, index) => stamped(noisy, `foto ${index}`))
    await using place = await startSingleNode(disk.path)
    for (const picture of pictures) assert.equal((await place.upload(picture)).status, 200)
    await fill(join(disk.path, 'filler'))
    const more = stamped(noisy, 'una más')
    assert.deepEqual(await place.upload(more), IMAGE_NOT_SAVED)
    for (let index = 0; (await place.add(`lleno${index}`)).status === 200; index++) assert.ok(index < 2_000)
    for (const picture of pictures) assert.equal((await place.remove(picture)).status, 200)
    await waitForRecovery(() => place.upload(more))
    await place.expectPicture(more, true)
    for (const picture of pictures) await place.expectPicture(picture, false)
  })

  test('uploads rejected because the database is full leave no files', async (context) => {
    await using disk = await smallDisk()
    if (disk === undefined) return context.skip('no disk may be mounted here')
    const small = await gradient(20, 10).png().toBuffer()
    const noisy = await noise(600, 600).png().toBuffer()
    const filler = join(disk.path, 'filler')
    await using place = await startSingleNode(disk.path)
    for (const picture of [small, noisy]) assert.equal((await place.upload(picture)).status, 200)
    await fill(filler)
    for (let index = 0; (await place.add(`lleno${index}`)).status === 200; index++) assert.ok(index < 2_000)
    // From the first deletion on, the room that is left is for deletions.
    assert.equal((await place.remove(small)).status, 200)
    // Room for the file of one upload, not for a database that takes writes again.
    await truncate(filler, (await stat(filler)).size - 1_300_000)
    for (let round = 0; round < 5; round++) {
      assert.deepEqual(await place.upload(stamped(noisy, `foto ${round}`)), IMAGE_NOT_SAVED)
    }
    const held = [expectedHash(noisy)]
    await eventually(async () => isDeepStrictEqual(await hashesOnDisk(disk.path), held))
    await rm(filler)
    await waitForRecovery(() => place.upload(stamped(noisy, 'otra')))
  })
})

/** The hashes of the images whose bytes are in the data folder. */
async function hashesOnDisk(data: string): Promise<string[]> {
  const files = await readdir(join(data, 'blobs'), { recursive: true, withFileTypes: true })
  return files.flatMap(({ name }) => /^(\w+)\.[0-9a-f]{12}$/.exec(name)?.slice(1) ?? []).toSorted()
}
