/** Originals are not verified when they are read, but all of them within a month. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OriginalChecks } from '../../src/imagestore/blobs.ts'
import { bytesOf, expectedHash, ImageClient, stamped } from '../support/images.ts'
import { ManualClock, startService } from '../support/service.ts'
import { flipped, HOUR, keyOf, look, png, put } from './looking.ts'

/** 30 days, less one hour. */
const PARTS = 719
const NEVER = new AbortController().signal

test('a month of checks reads every original once, and marks damaged ones as lost', async () => {
  await using service = await startService({ flags: { 'memory-cache': '0' } })
  const { database, blobs } = service.app.context
  const client = new ImageClient(service.url, service.imageKey)
  const pictures = Array.from({ length: 40 }, (_, i) => stamped(png, `número ${i}`))
  for (const picture of pictures) assert.equal((await client.upload(picture)).status, 200)
  const [damaged = png, short = png, missing = png] = pictures
  const [key, shortKey, missingKey] = await Promise.all(
    [damaged, short, missing].map((one) => keyOf(service, one)),
  )
  assert.ok(key !== undefined && shortKey !== undefined && missingKey !== undefined)
  await put(service, key, flipped(damaged))
  // It has as many bytes as before.
  assert.ok((await bytesOf(await client.link(expectedHash(damaged)))).equals(flipped(damaged)))
  await put(service, shortKey, png.subarray(0, 50))
  await blobs.remove(missingKey)

  const logged: unknown[] = []
  const log = { error: (entry: unknown) => void logged.push(entry) }
  const clock = new ManualClock('2026-03-01T00:30:00Z')
  const checks = new OriginalChecks({ database, blobs, clock, log })
  const run = async (hours: number) => {
    for (let hour = 0; hour < hours; hour++) {
      await checks.run(NEVER)
      clock.advance(HOUR)
    }
  }
  await run(PARTS)
  assert.deepEqual([checks.checked, checks.damaged, logged.length], [pictures.length, 2, 3])
  for (const picture of [damaged, short]) {
    const link = await client.link(expectedHash(picture))
    assert.equal(link.status, 410)
    await link.arrayBuffer()
  }
  const { found } = await look(service)
  assert.deepEqual(
    [found['lost'], found['corrupt'], found['missing']],
    [[key, shortKey].toSorted(), undefined, [missingKey]],
  )
  // The whole store may have been unavailable.
  assert.equal((await client.link(expectedHash(missing))).status, 500)
  assert.equal((await client.upload(damaged)).status, 200)
  assert.ok((await bytesOf(await client.link(expectedHash(damaged)))).equals(damaged))
  await run(PARTS)
  assert.deepEqual([checks.checked, checks.damaged, logged.length], [2 * pictures.length - 1, 2, 4])
})
