import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import sharp from 'sharp'
import { bytesOf, DAMAGED, expectedHash, ImageClient, plain } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { startService } from '../support/service.ts'

/**
 * Quarters in red and green above blue and white, in Display P3, 60 by 40 pixels, which a property of the picture turns clockwise, as
 * cameras do. Its EXIF says the same, which must not turn it again. Drawn by sharp, encoded by heif-enc 1.15 (x265) of Debian; the
 * property was inserted into the file.
 */
const heic = readFileSync(new URL('../fixtures/heic/turned.heic', import.meta.url))

/** Red and green above blue and white, 24 bits. */
function bmp(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(54 + width * height * 3)
  bytes.write('BM')
  bytes.writeUInt32LE(54, 10)
  bytes.writeUInt32LE(40, 14)
  bytes.writeInt32LE(width, 18)
  bytes.writeInt32LE(-height, 22)
  bytes.writeUInt16LE(1, 26)
  bytes.writeUInt16LE(24, 28)
  const [red, green, blue, white] = [0xc81e1e, 0x1ec81e, 0x1e1ec8, 0xe6e6e6]
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colours = y < height / 2 ? [red, green] : [blue, white]
      bytes.writeUIntLE(colours[x < width / 2 ? 0 : 1] ?? 0, 54 + (y * width + x) * 3, 3)
    }
  }
  return bytes
}

const drawing = bmp(80, 60)

/** The colours in the middle of each quarter. */
async function quarters(bytes: Buffer): Promise<readonly (readonly number[])[]> {
  const { data, info } = await sharp(bytes)
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => {
    const from = (Math.floor(info.height * y) * info.width + Math.floor(info.width * x)) * 3
    return [...data.subarray(from, from + 3)]
  }
  return [at(0.25, 0.25), at(0.75, 0.25), at(0.25, 0.75), at(0.75, 0.75)]
}

async function assertQuarters(bytes: Buffer, expected: readonly (readonly number[])[], name: string) {
  const actual = await quarters(bytes)
  const isNear = actual.every((colour, i) =>
    colour.every((sample, j) => Math.abs(sample - (expected[i]?.[j] ?? -99)) <= 16),
  )
  assert.ok(isNear, `${name}: ${JSON.stringify(actual)}`)
}

const [RED, GREEN, BLUE, WHITE] = [
  [200, 30, 30],
  [30, 200, 30],
  [30, 30, 200],
  [230, 230, 230],
]
const [UPRIGHT, TURNED] = [
  [RED, GREEN, BLUE, WHITE],
  [BLUE, RED, WHITE, GREEN],
]

const { client: fotos } = await startImages()

for (const { name, bytes, mime, size, colours } of [
  { name: 'BMP', bytes: drawing, mime: 'image/bmp', size: [80, 60], colours: UPRIGHT },
  { name: 'HEIC', bytes: heic, mime: 'image/heic', size: [40, 60], colours: TURNED },
]) {
  test(`${name}: the original stays as it is, and other formats are made from its pixels`, async () => {
    const hash = expectedHash(bytes)
    const uploaded = await fotos.upload(bytes)
    assert.equal(uploaded.status, 200)
    const { width, height } = uploaded.body
    assert.deepEqual([width, height, uploaded.body['hash']], [...size, hash])
    assert.equal((await fotos.get(hash)).body['mime'], mime)
    assert.equal((await fotos.list({ mime })).body['total'], 1)

    const original = await fotos.link(hash)
    assert.equal(original.headers.get('content-type'), mime)
    assert.deepEqual(await bytesOf(original), bytes)

    for (const [link, accept, type] of [
      [`${hash}.png`, '*/*', 'image/png'],
      [`${hash}&m=w_40`, '*/*', 'image/jpeg'],
      [`${hash}&m=f_auto`, 'image/webp,*/*', 'image/webp'],
      [`${hash}&m=w_40,f_auto`, 'image/avif,image/heic,image/*', 'image/'],
    ] as const) {
      const answer = await fotos.link(link, { headers: { accept } })
      assert.equal(answer.status, 200, link)
      const converted = answer.headers.get('content-type') ?? ''
      assert.ok(converted.startsWith(type) && converted !== mime, `${link}: ${converted}`)
      await assertQuarters(await bytesOf(answer), colours, link)
    }
    // Not every browser shows the type of the original: a client that names no type does not get it.
    const unnamed = await fotos.link(`${hash}&m=f_auto`, { headers: { accept: '*/*' } })
    assert.match(unnamed.headers.get('content-type') ?? '', /^image\/(?:jpeg|png)$/)
    const { width: shown } = await sharp(await bytesOf(await fotos.link(`${hash}.webp`))).metadata()
    assert.equal(shown, size[0])
  })
}

test('a HEIC keeps its EXIF in a derivative that asks for it, upright', async () => {
  const kept = await bytesOf(await fotos.link(`${expectedHash(heic)}&m=meta_keep,f_jpg`))
  const { exif, orientation = 1, width, height } = await sharp(kept).metadata()
  assert.match(exif?.toString('latin1') ?? '', /Catalejo/)
  assert.deepEqual([orientation, width, height], [1, 40, 60])
  await assertQuarters(kept, TURNED, 'meta_keep')
})

test('a cut, a lying header and too many pixels are refused', async () => {
  const huge = bmp(8, 8)
  huge.writeInt32LE(30_000, 18)
  huge.writeInt32LE(30_000, 22)
  const runs = Buffer.from(huge)
  runs.writeUInt16LE(8, 28)
  runs.writeUInt32LE(1, 30)
  const damagedHeic = Buffer.from(heic)
  // The length of the first unit of the picture.
  damagedHeic.fill(0xff, heic.indexOf('mdat') + 4, heic.indexOf('mdat') + 8)
  for (const [name, bytes, reason] of [
    ['a cut BMP', drawing.subarray(0, -200), 'damaged'],
    ['a BMP of more pixels than it has', huge, 'damaged'],
    ['runs of 900 million pixels', runs, 'too_many_pixels'],
    ['a cut HEIC', heic.subarray(0, -200), 'damaged'],
    ['a HEIC that does not decode', damagedHeic, 'damaged'],
  ] as const) {
    const answer = await fotos.upload(bytes)
    assert.deepEqual([plain(answer), answer.reason], [DAMAGED, reason], name)
  }
})

test('without metadata a HEIC is stored without its EXIF, and looks the same', async () => {
  await using service = await startService({ flags: { strip: '1' } })
  const fotos = new ImageClient(service.url, service.imageKey)
  const { body } = await fotos.upload(heic)
  const stored = await bytesOf(await fotos.link(String(body['hash'])))
  assert.equal(stored.includes('Catalejo'), false)
  const png = await bytesOf(await fotos.link(`${String(body['hash'])}.png`))
  await assertQuarters(png, TURNED, 'stripped')
})
