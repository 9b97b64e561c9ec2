import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { thumbHashToAverageRGBA } from 'thumbhash'
import { animation, expectedHash, gradient, INFO, plain, stamped, UNEDITED } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { ManualClock } from '../support/service.ts'

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="9" height="9"/></svg>'

const kinds: Readonly<Record<string, { bytes: Buffer; width: number; height: number }>> = {
  'image/jpeg': { bytes: await gradient(50, 30).jpeg().toBuffer(), width: 50, height: 30 },
  'image/png': { bytes: await gradient(51, 30).png().toBuffer(), width: 51, height: 30 },
  'image/gif': {
    bytes: await (await animation(52, 30, ['red', 'lime', 'blue'])).gif().toBuffer(),
    width: 52,
    height: 30,
  },
  'image/webp': {
    bytes: await (await animation(53, 30, ['red', 'lime', 'blue'])).webp().toBuffer(),
    width: 53,
    height: 30,
  },
  'image/avif': { bytes: await gradient(54, 30).avif({ effort: 0 }).toBuffer(), width: 54, height: 30 },
  'image/tiff': { bytes: await gradient(55, 30).tiff().toBuffer(), width: 55, height: 30 },
  'image/svg+xml': { bytes: Buffer.from(SVG), width: 40, height: 20 },
}

/** Red and green: red rises to the right, green to the bottom. */
const GRADIENT = [0.5, 0.5] as const
/** Pixel averages of the first frame, and of what is not transparent. */
const averages: Readonly<Record<string, readonly [number, number]>> = {
  'image/gif': [1, 0],
  'image/webp': [1, 0],
  'image/svg+xml': [0, 0],
}

const clock = new ManualClock('2026-02-03T04:05:06.789Z')
const uploadedAt = Date.parse('2026-02-03T04:05:06Z') / 1000

const { service, client: fotos, newClient } = await startImages({ clock })
const diario = await newClient('diario')

for (const [mime, { bytes, width, height }] of Object.entries(kinds)) {
  test(`${mime} with a false mime`, async () => {
    const hash = expectedHash(bytes)
    const uploaded = await fotos.upload(bytes, { name: 'dicho.bmp', mime: 'text/html' })
    const { dhash, thumbhash, color, dark, similar } = uploaded.body
    const address = `${service.url}/i/${hash}`
    assert.match(String(dhash), /^[0-9a-f]{16}$/)
    const average = thumbHashToAverageRGBA(Buffer.from(String(thumbhash), 'base64'))
    const [r, g] = averages[mime] ?? GRADIENT
    assert.ok(Math.abs(average.r - r) < 0.2 && Math.abs(average.g - g) < 0.2, JSON.stringify(average))
    const [red = -1, green = -1] = Buffer.from(String(color).slice(1), 'hex')
    assert.ok(Math.abs(red - 255 * r) <= 2 && Math.abs(green - 255 * g) <= 2, String(color))
    assert.equal(dark, 1)
    assert.deepEqual(plain(uploaded), {
      status: 200,
      body: {
        status: 200,
        hash,
        dhash,
        size: bytes.length,
        width,
        height,
        thumbhash,
        color,
        dark,
        ...UNEDITED,
        link: address,
        similar,
      },
    })
    assert.equal(uploaded.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(plain(await fotos.get(hash)), {
      status: 200,
      body: {
        status: 200,
        name: 'dicho.bmp',
        hash,
        mime,
        width,
        height,
        size: bytes.length,
        date: uploadedAt,
        thumbhash,
        expires: null,
        color,
        dark,
        ...UNEDITED,
        link: address,
      },
    })
    const link = await fotos.link(hash)
    assert.equal(link.headers.get('content-type'), mime)
  })
}

for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
  test(`width and height respect EXIF orientation ${orientation}`, async () => {
    const bytes = await gradient(90, 50).jpeg().withMetadata({ orientation }).toBuffer()
    const { body } = await fotos.upload(bytes)
    const expected = orientation >= 5 ? [50, 90] : [90, 50]
    assert.deepEqual([body['width'], body['height']], expected)
    const stored = await fotos.get(expectedHash(bytes))
    assert.deepEqual([stored.body['width'], stored.body['height']], expected)
  })
}

test('the dhash of an upright picture has a 1 where the right pixel is brighter', async () => {
  const rising = await gradient(90, 80).png().toBuffer()
  assert.equal((await fotos.upload(rising)).body['dhash'], 'f'.repeat(16))
  const falling = await gradient(90, 80).flop().png().toBuffer()
  assert.equal((await fotos.upload(falling)).body['dhash'], '0'.repeat(16))
  const turned = await sharp(rising).jpeg().withMetadata({ orientation: 3 }).toBuffer()
  assert.equal((await fotos.upload(turned)).body['dhash'], '0'.repeat(16))
})

test('the same bytes again: the same hash, the newest info, one image', async () => {
  const bytes = stamped(await gradient(20, 10).png().toBuffer(), 'dos veces')
  const before = (await fotos.list()).body['count']
  const first = await fotos.upload(bytes, { name: 'primero.png' })
  clock.advance(5_000)
  const second = await fotos.upload(bytes, { name: 'segundo.png' })
  assert.deepEqual(plain(second), plain(first))
  const { body } = await fotos.get(expectedHash(bytes))
  assert.deepEqual([body['name'], body['date']], ['segundo.png', uploadedAt + 5])
  assert.equal((await fotos.list()).body['count'], Number(before) + 1)
})

test('two applications with the same bytes each have a record of their own', async () => {
  const bytes = stamped(await gradient(20, 10).png().toBuffer(), 'de los dos')
  const hash = expectedHash(bytes)
  const absent = { status: 404, body: { status: 404, msg: 'La imagen no existe' } }
  await fotos.upload(bytes, { name: 'de fotos' })
  assert.deepEqual(plain(await diario.get(hash)), absent)
  assert.deepEqual(plain(await diario.remove(hash)), absent)
  const theirs = await diario.upload(bytes, { name: 'de diario' })
  assert.equal(theirs.body['hash'], hash)
  assert.equal((await fotos.get(hash)).body['name'], 'de fotos')
  assert.equal((await diario.get(hash)).body['name'], 'de diario')

  assert.deepEqual(plain(await fotos.remove(hash)), { status: 200, body: { status: 200, hash } })
  assert.deepEqual(plain(await fotos.get(hash)), absent)
  assert.equal((await diario.get(hash)).body['name'], 'de diario')
  const link = await diario.link(hash)
  assert.deepEqual(Buffer.from(await link.arrayBuffer()), bytes)

  await diario.remove(hash)
  assert.equal((await diario.link(hash)).status, 404)
})

test('concurrent uploads of the same new bytes all succeed and create one image', async () => {
  const bytes = stamped(await gradient(20, 10).png().toBuffer(), 'a la vez')
  clock.advance(5_000)
  const answers = await Promise.all(Array.from({ length: 12 }, () => fotos.upload(bytes, INFO)))
  for (const answer of answers) {
    assert.deepEqual([answer.status, answer.body['hash']], [200, expectedHash(bytes)])
  }
  const { body } = await fotos.list({ limit: '1' })
  assert.match(JSON.stringify(body), new RegExp(expectedHash(bytes)))
})
