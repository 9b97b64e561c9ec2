import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'
import { encodeToTarget, TARGET_SCORE, ssimulacra2 } from './auto-quality.ts'

/** Waves, finer and stronger with `detail`. */
function waves(detail: number, width = 160, height = 120): Pixels {
  const data = new Uint8Array(width * height * 3)
  for (let i = 0; i < data.length; i++) {
    const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)]
    const wave = Math.sin((x * detail) / 20 + (i % 3)) * Math.cos((y * detail) / 15)
    data[i] = 128 + wave * 20 * Math.sqrt(detail) + ((Math.imul(i, 2_654_435_761) >>> 24) % 8) * detail
  }
  return asPixels(data, width, height, 3)
}

const open = ({ data, width, height, channels }: Pixels): Sharp =>
  sharp(data, { raw: { width, height, channels } })

async function decode(bytes: Buffer): Promise<Pixels> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
  return asPixels(data, info.width, info.height, info.channels)
}

test('scores are those of the reference implementation of SSIMULACRA2', () => {
  const original = waves(2)
  assert.equal(ssimulacra2(original, original), 100)
  for (const [mask, expected] of [
    [0xf8, 87.03],
    [0xf0, 76.8],
  ] as const) {
    const copy = { ...original, data: original.data.map((sample) => (sample & mask) | (~mask & 0xff & 4)) }
    assert.ok(
      Math.abs(ssimulacra2(original, copy) - expected) < 0.1,
      `${mask}: ${ssimulacra2(original, copy)}`,
    )
  }
})

test('pictures of any content get the same score, at different qualities', async () => {
  const qualities = new Set<number>()
  for (const write of [
    (image: Sharp, quality: number) => image.jpeg({ quality }).toBuffer(),
    (image: Sharp, quality: number) => image.webp({ quality }).toBuffer(),
  ]) {
    for (const detail of [1, 3, 6]) {
      const picture = waves(detail)
      let quality = 0
      const remember = (image: Sharp, tried: number) => {
        quality = tried
        return write(image, tried)
      }
      const score = ssimulacra2(
        picture,
        await decode(await encodeToTarget(() => open(picture), 80, picture, remember)),
      )
      assert.ok(Math.abs(score - TARGET_SCORE) < 2, `${detail}, quality ${quality}: ${score}`)
      qualities.add(quality)
    }
  }
  assert.ok(qualities.size > 3, [...qualities].join())
})

test('a picture that is scored in part gets the score as a whole', async () => {
  const [width, height] = [900, 600]
  const [calm, busy] = [waves(1, width, height), waves(5, width, height)]
  // Busy on the right of the middle, and calm elsewhere.
  const data = calm.data.map((sample, i) =>
    Math.floor(i / 3) % width > width / 2 ? (busy.data[i] ?? 0) : sample,
  )
  const picture = asPixels(data, width, height, 3)
  const write = (image: Sharp, quality: number) => image.webp({ quality }).toBuffer()
  const bytes = await encodeToTarget(() => open(picture), 80, picture, write)
  const score = ssimulacra2(picture, await decode(bytes))
  assert.ok(Math.abs(score - TARGET_SCORE) < 2, String(score))
})
