/** Links whose image changes while their bytes are read or made, and images whose stored bytes are no longer those uploaded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryMode } from '../../src/imagestore/links/link.ts'
import { updateDelivery } from '../../src/imagestore/account-policy.ts'
import {
  answerOf,
  bytesOf,
  expectedHash,
  gradient,
  ImageClient,
  NO_IMAGE,
  noise,
  plain,
  problem,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { keyOf, put } from '../integrity/looking.ts'
import { ManualClock, startService } from '../support/service.ts'

const UNSIGNED = problem(403, 'La imagen solo se entrega por enlaces firmados')
const EXPIRED = problem(410, 'El enlace expiró')
const NOW = Date.UTC(2026, 5, 1)

const clock = new ManualClock(new Date(NOW).toISOString())
const { service, client } = await startImages({ clock })
const { blobs } = service.app.context
let pictures = 0

async function stored(info: Record<string, unknown> = {}, width = 60): Promise<string> {
  const bytes = await gradient(width, 40)
    .withExif({ IFD0: { Copyright: String(++pictures) } })
    .png({ compressionLevel: 0 })
    .toBuffer()
  assert.equal((await client.upload(bytes, info)).status, 200)
  return expectedHash(bytes)
}

const settle = (mode: DeliveryMode) => updateDelivery(service.app.context.database, 'fotos', { mode })

/** Holds back what the store has read, or had derived, until `change` is done. */
async function changing(links: readonly string[], change: () => Promise<unknown>): Promise<Response[]> {
  const [withLocalFile, read, stream] = [
    blobs.withLocalFile.bind(blobs),
    blobs.read.bind(blobs),
    blobs.stream.bind(blobs),
  ]
  const { promise: changed, resolve: release } = Promise.withResolvers<void>()
  let held = 0
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const hold = async <T>(result: T): Promise<T> => {
    if (++held === 1) reach()
    await changed
    return result
  }
  Object.assign(blobs, {
    withLocalFile: async (...call: Parameters<typeof withLocalFile>) => hold(await withLocalFile(...call)),
    read: async (...call: Parameters<typeof read>) => hold(await read(...call)),
    stream: async (...call: Parameters<typeof stream>) => hold(await stream(...call)),
  })
  try {
    const answers = links.map((link) => client.link(link))
    await reached
    await change()
    release()
    return await Promise.all(answers)
  } finally {
    Object.assign(blobs, { withLocalFile, read, stream })
  }
}

async function isRefused(response: Response | undefined, expected: ReturnType<typeof plain>) {
  assert.ok(response !== undefined)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.deepEqual(plain(await answerOf(response)), expected)
}

test('a derivative finished after its image was deleted is 404 for all waiting requests', async () => {
  const hash = await stored()
  const link = `${hash}&m=w_31`
  for (const answer of await changing([link, link, link], () => client.remove(hash))) {
    await isRefused(answer, NO_IMAGE)
  }
  await isRefused(await client.link(link), NO_IMAGE)
})

test('an original that is deleted before its stream begins is 404', async () => {
  const bytes = await noise(700, 700).png({ compressionLevel: 0 }).toBuffer()
  assert.ok(bytes.length > 1024 * 1024)
  await client.upload(bytes)
  const hash = expectedHash(bytes)
  const [answer] = await changing([hash], () => client.remove(hash))
  await isRefused(answer, NO_IMAGE)
})

test('an image that its application closes meanwhile is rejected', async () => {
  await settle('open')
  const hash = await stored()
  const [answer] = await changing([`${hash}&m=w_32`], () => settle('signed'))
  await settle('open')
  await isRefused(answer, UNSIGNED)
})

test('a switch to ladder mode meanwhile applies to the response', async () => {
  const hash = await stored({}, 600)
  const [answer] = await changing([`${hash}&m=w_300`], () => settle('ladder'))
  assert.ok(answer?.status === 200)
  const ladder = await bytesOf(await client.link(`${hash}&m=w_320`))
  assert.ok((await bytesOf(answer)).equals(ladder))
  await settle('open')
})

test('a link that expires meanwhile is rejected, and one that expires soon is cached no longer', async () => {
  const now = Math.floor(clock.now() / 1_000)
  const link = `${await stored()}&m=w_33,exp_${now + 5}`
  const [over] = await changing([link], async () => clock.advance(5_000))
  await isRefused(over, EXPIRED)
  const other = `${await stored()}&m=w_33,exp_${now + 100}`
  const [soon] = await changing([other], async () => clock.advance(90_000))
  assert.equal(soon?.headers.get('cache-control'), 'public, max-age=5')
  const image = await stored({ expires: Math.floor(clock.now() / 1_000) + 60 })
  const [gone] = await changing([`${image}&m=w_34`], async () => clock.advance(3_600_000))
  await isRefused(gone, NO_IMAGE)
})

for (const [size, width] of [
  ['small', 60],
  ['large', 1_100],
] as const) {
  test(`responses made of ${size} stored bytes of another length are not cacheable`, async () => {
    await using service = await startService({ flags: { 'memory-cache': '0' } })
    const client = new ImageClient(service.url, service.imageKey)
    const bytes = await noise(width, 600).tiff({ compression: 'none' }).toBuffer()
    assert.equal((await client.upload(bytes)).status, 200)
    await put(service, await keyOf(service, bytes), bytes.subarray(0, -1))
    const hash = expectedHash(bytes)
    const range = { range: `bytes=${bytes.length - 9}-` }
    for (const [link, headers] of [
      [`${hash}&m=w_9`, {}],
      [`${hash}.webp`, {}],
      [hash, range],
      [hash, {}],
    ] as const) {
      const response = await client.link(link, { headers })
      const seen = [response.status, response.headers.get('cache-control')]
      assert.deepEqual(seen, [500, 'no-store'], link)
      await response.arrayBuffer()
    }
  })
}
