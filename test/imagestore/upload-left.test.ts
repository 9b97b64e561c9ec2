/** Uploads whose clients went away while their images were in line, or being decoded, are dropped. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectedHash, ImageClient, NO_IMAGE, plain } from '../support/images.ts'
import { eventually } from '../support/eventually.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import { startService } from '../support/service.ts'

/** Takes minutes to draw; each in bytes of its own. */
const slow = (number: number) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000"><!-- ${number} -->
    <filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="40"/></filter>
    ${'<rect width="4000" height="4000" filter="url(#f)"/>'.repeat(40)}</svg>`,
  )

// A balancer may keep from the node that a client has left.
const balanced = BLOBS_VARIABLE in process.env && 'behind a balancer'

test('an upload of a disconnected client is not decoded', { skip: balanced }, async () => {
  await using service = await startService({
    flags: { 'image-workers': '1' },
    limits: { imageQueue: 8, imageTimeoutMs: 300_000 },
  })
  const client = new ImageClient(service.url, service.imageKey)
  const metric = async (name: string) => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return Number(new RegExp(`^catalejo_images_${name} (\\d+)`, 'm').exec(text)?.[1])
  }
  const stop = new AbortController()
  const images = Array.from({ length: 4 }, (_, i) => slow(i))
  const left = images.map((image) => client.upload(image, {}, stop.signal).catch(() => undefined))
  // One is drawn, the others wait for its place among those that take long.
  await eventually(async () => (await metric('waiting')) === 3 && (await metric('decoding')) === 1)
  stop.abort()
  assert.deepEqual(
    await Promise.all(left),
    images.map(() => undefined),
  )
  await eventually(async () => (await metric('waiting')) + (await metric('decoding')) === 0)
  for (const image of images) assert.deepEqual(plain(await client.get(expectedHash(image))), NO_IMAGE)
})
