/** The pixels of derivatives, compared with plain definitions of the modifiers. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import sharp, { type Channels } from 'sharp'
import { byTag, firstEntries, tiffDirectory, tiffEntry } from '../../../test/support/image-containers.ts'
import { parseModifiers } from '../modifiers/index.ts'
import { ImageEngine } from './index.ts'

const engine = new ImageEngine({ workers: 1 })
const folder = await mkdtemp(join(tmpdir(), 'catalejo-pixels-'))
after(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

interface Picture {
  readonly width: number
  readonly height: number
  readonly channels: Channels
  readonly at: (x: number, y: number, channel: number) => number
}

let files = 0
/** Writes a PNG of these samples. */
async function store({ width, height, channels, at }: Picture): Promise<string> {
  const path = join(folder, `${files++}.png`)
  const samples = Array.from({ length: width * height * channels }, (_, i) => {
    const pixel = Math.floor(i / channels)
    return at(pixel % width, Math.floor(pixel / width), i % channels)
  })
  await sharp(Uint8Array.from(samples), { raw: { width, height, channels } }).png().toFile(path)
  return path
}

async function derive(path: string, modifiers: string): Promise<Buffer> {
  const parsed = parseModifiers(modifiers)
  assert.ok(parsed.ok, modifiers)
  const { format, ...plan } = parsed.transformation
  assert.ok(format !== 'auto')
  const got = await engine.derive(path, { ...plan, format })
  assert.ok(got.kind === 'image', JSON.stringify(got))
  return Buffer.from(got.bytes)
}

async function read(bytes: Buffer): Promise<Picture> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  return { width, height, channels, at: (x, y, c) => data[(y * width + x) * channels + c] ?? -1 }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

/** Noise that is the same in each run. */
const noise = (x: number, y: number, channel: number) =>
  (Math.imul(x * 7919 + y * 104_729 + channel * 1_299_709, 2_654_435_761) >>> 24) & 255

test('blocks of pixelate_N have exactly N pixels a side, and the mean colour of what they cover', async () => {
  const picture: Picture = { width: 103, height: 61, channels: 3, at: noise }
  const path = await store(picture)
  for (const block of [2, 10, 25, 512]) {
    const got = await read(await derive(path, `pixelate_${block},f_png`))
    for (let y = 0; y < picture.height; y += 7) {
      for (let x = 0; x < picture.width; x += 5) {
        const [left, top] = [x - (x % block), y - (y % block)]
        const covered = range(top, Math.min(picture.height, top + block)).flatMap((row) =>
          range(left, Math.min(picture.width, left + block)).map((column) => noise(column, row, 1)),
        )
        assert.ok(Math.abs(got.at(x, y, 1) - mean(covered)) <= 0.5, `${block}: ${x}, ${y}`)
      }
    }
  }
})

test('invisible pixels have no share in the colour of a block', async () => {
  const at = (x: number, _: number, channel: number) => (channel === (x % 2 === 0 ? 0 : 2) ? 255 : 0)
  // Opaque red and transparent blue in turn.
  const path = await store({
    width: 8,
    height: 8,
    channels: 4,
    at: (x, y, c) => (c === 3 ? (x % 2 === 0 ? 255 : 0) : at(x, y, c)),
  })
  const got = await read(await derive(path, 'pixelate_8,f_png'))
  assert.deepEqual(
    range(0, 4).map((channel) => got.at(3, 3, channel)),
    [255, 0, 0, 128],
  )
})

test('blur_N spreads an edge with the standard deviation N', async () => {
  const [width, edge] = [1000, 500]
  const path = await store({ width, height: 3, channels: 3, at: (x) => (x < edge ? 20 : 220) })
  for (const sigma of [1, 2.5, 10, 60]) {
    const got = await read(await derive(path, `blur_${sigma},f_png`))
    // The steps between pixels are the blurred impulse.
    const steps = range(edge - 300, edge + 300).map((x) => ({
      x: x - edge + 0.5,
      weight: (got.at(x, 1, 0) - got.at(x - 1, 1, 0)) / 200,
    }))
    const moment = (power: number) =>
      steps.reduce((sum, { x, weight }) => sum + weight * (x - 0.5) ** power, 0)
    const measured = Math.sqrt(moment(2) - moment(1) ** 2)
    assert.ok(Math.abs(measured / sigma - 1) < 0.05, `blur_${sigma}: ${measured}`)
  }
})

test('up enlarges at most half a pixel of the output off the centres of pixels', async () => {
  const [width, height] = [24, 20]
  // A ramp in each direction: Catmull-Rom leaves it one, away from the edges.
  const at = (x: number, y: number, channel: number) =>
    channel === 0 ? x * 9 + 10 : channel === 1 ? y * 9 + 10 : 77
  const path = await store({ width, height, channels: 3, at })
  for (const factor of [2, 3, 3.5]) {
    const got = await read(await derive(path, `w_${width * factor},up,f_png`))
    assert.deepEqual([got.width, got.height], [width * factor, height * factor])
    // Half a pixel of the output on the ramp, and the rounding of a sample.
    const tolerance = 4.5 / factor + 0.5
    for (let y = 2 * factor; y < (height - 2) * factor; y++) {
      for (let x = 2 * factor; x < (width - 2) * factor; x++) {
        const [column, row] = [(x + 0.5) / factor - 0.5, (y + 0.5) / factor - 0.5]
        const place = `${factor}: ${x}, ${y}`
        assert.ok(Math.abs(got.at(x, y, 0) - at(column, row, 0)) <= tolerance, place)
        assert.ok(Math.abs(got.at(x, y, 1) - at(column, row, 1)) <= tolerance, place)
        assert.equal(got.at(x, y, 2), 77, place)
      }
    }
  }
})

test('up gives invisible pixels no share in the colour of visible ones', async () => {
  const path = await store({
    width: 20,
    height: 4,
    channels: 4,
    at: (x, _, c) => (x < 10 ? [255, 0, 0, 255] : [0, 0, 255, 0])[c] ?? 0,
  })
  const got = await read(await derive(path, 'w_60,up,f_png'))
  for (const x of range(0, 60)) {
    const alpha = got.at(x, 6, 3)
    if (alpha <= 8) continue
    assert.equal(got.at(x, 6, 2), 0, String(x))
    // Colours are multiplied by alpha, rounded, and divided again.
    assert.ok(got.at(x, 6, 0) >= 255 - 255 / alpha, `${x}: ${got.at(x, 6, 0)} of alpha ${alpha}`)
  }
})

test('rect_ and rel_ cut out these pixels, before the image is turned and scaled', async () => {
  const picture: Picture = { width: 60, height: 40, channels: 3, at: noise }
  const path = await store(picture)
  for (const [modifiers, left, top, width, height] of [
    ['rect_5_7_20_10', 5, 7, 20, 10],
    ['rect_50_30_100_100', 50, 30, 10, 10],
    ['rel_0.5_0.25_0.25_0.5', 30, 10, 15, 20],
    ['rel_0.9_0.9_1_1', 54, 36, 6, 4],
    ['rect_10_10_40_20,rel_0.5_0.5_0.5_0.5', 30, 20, 20, 10],
  ] as const) {
    const got = await read(await derive(path, `${modifiers},f_png`))
    assert.deepEqual([got.width, got.height], [width, height], modifiers)
    for (const [x, y] of [
      [0, 0],
      [width - 1, height - 1],
      [3, 2],
    ] as const)
      assert.equal(got.at(x, y, 1), noise(left + x, top + y, 1), modifiers)
  }
  const turned = await read(await derive(path, 'rect_5_7_20_10,r_90,f_png'))
  assert.deepEqual([turned.width, turned.height, turned.at(9, 0, 0)], [10, 20, noise(5, 7, 0)])
  const scaled = await sharp(await derive(path, 'rect_5_7_20_10,w_100,up,f_png')).metadata()
  assert.deepEqual([scaled.width, scaled.height], [100, 50])
})

test('rect_ counts pixels after EXIF orientation', async () => {
  const path = join(folder, 'turned.jpg')
  const left = { create: { width: 32, height: 64, channels: 3 as const, background: '#f00' } }
  await sharp({ create: { width: 64, height: 64, channels: 3, background: '#00f' } })
    .composite([{ input: left, left: 0, top: 0 }])
    .withMetadata({ orientation: 6 })
    .jpeg({ chromaSubsampling: '4:4:4' })
    .toFile(path)
  // Turned clockwise, what was at the left is on top.
  for (const [modifiers, channel] of [
    ['rect_0_0_64_20', 0],
    ['rect_0_40_64_20', 2],
  ] as const) {
    const got = await read(await derive(path, `${modifiers},f_png`))
    assert.ok(got.at(30, 10, channel) > 240, modifiers)
  }
})

test('bright_, contrast_ and sat_ are the filters of CSS, and leave alpha as it is', async () => {
  const colour = [200, 100, 40, 128]
  const path = await store({
    width: 3,
    height: 3,
    channels: 4,
    at: (_x, _y, channel) => colour[channel] ?? 0,
  })
  const gray = 0.213 * 200 + 0.715 * 100 + 0.072 * 40
  const cases: readonly (readonly [modifiers: string, definition: (sample: number) => number])[] = [
    ['bright_20', (v) => v * 1.2],
    ['bright_100', (v) => v * 2],
    ['bright_-100', () => 0],
    ['contrast_50', (v) => (v - 127.5) * 1.5 + 127.5],
    ['contrast_-100', () => 127.5],
    ['sat_50', (v) => gray + (v - gray) * 1.5],
    ['sat_-100', () => gray],
    ['contrast_-50,bright_10', (v) => (v * 1.1 - 127.5) * 0.5 + 127.5],
  ]
  for (const [modifiers, definition] of cases) {
    const got = await read(await derive(path, `${modifiers},f_png`))
    for (const channel of range(0, 3)) {
      const want = Math.min(255, Math.max(0, definition(colour[channel] ?? 0)))
      assert.ok(
        Math.abs(got.at(1, 1, channel) - want) <= 1,
        `${modifiers}: ${got.at(1, 1, channel)}, not ${want}`,
      )
    }
    assert.equal(got.at(1, 1, 3), 128)
  }
})

test('f_png,q_100 has the bytes of f_png', async () => {
  const path = await store({ width: 200, height: 200, channels: 3, at: (x, y, c) => (x + y * c) & 255 })
  assert.ok((await derive(path, 'f_png,q_100')).equals(await derive(path, 'f_png')))
})

test('JPEG is progressive, and in full colour resolution from quality 90 on', async () => {
  const path = await store({ width: 64, height: 64, channels: 3, at: noise })
  for (const [modifiers, chroma] of [
    ['f_jpg', '4:2:0'],
    ['f_jpg,q_89', '4:2:0'],
    ['f_jpg,q_90', '4:4:4'],
  ] as const) {
    const { isProgressive, chromaSubsampling } = await sharp(await derive(path, modifiers)).metadata()
    assert.deepEqual([isProgressive, chromaSubsampling], [true, chroma], modifiers)
  }
})

/** Adds an author and a place to a little-endian TIFF, in a directory at its end that takes the place of the first. */
function withAuthor(tiff: Buffer): Buffer {
  const head = Buffer.concat([tiff, Buffer.alloc(tiff.length % 2)])
  const own = firstEntries(tiff)
  const gps = head.length + 2 + (own.length + 2) * 12 + 4
  const entries = [...own, tiffEntry(315, 2, 4, 'Ana'), tiffEntry(34853, 4, 1, gps)].toSorted(byTag)
  head.writeUInt32LE(head.length, 4)
  return Buffer.concat([head, tiffDirectory(entries), tiffDirectory([tiffEntry(1, 2, 2, 'S')])])
}

test('meta_keep keeps the author and the place of a TIFF, and nothing of its layout', async () => {
  const path = join(folder, 'author.tiff')
  const plain = sharp({ create: { width: 30, height: 20, channels: 3, background: '#369' } })
  await writeFile(path, withAuthor(await plain.tiff({ compression: 'lzw' }).toBuffer()))
  for (const format of ['jpg', 'webp', 'png']) {
    const { exif = Buffer.alloc(0) } = await sharp(await derive(path, `meta_keep,f_${format}`)).metadata()
    assert.ok(exif.includes('Ana'), format)
    // The directory of places, and the compression, which the derivative does not have.
    assert.ok(exif.includes(Buffer.from('2588', 'hex')), format)
    assert.ok(!exif.includes(Buffer.from('03010300', 'hex')), format)
  }
  assert.equal((await sharp(await derive(path, 'f_jpg')).metadata()).exif, undefined)
})
