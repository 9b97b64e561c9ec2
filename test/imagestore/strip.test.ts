/** Metadata of images: removed from derivatives, and from originals if the setting is on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp, { type Sharp } from 'sharp'
import { byTag, firstEntries, tiffDirectory, tiffEntry } from '../support/image-containers.ts'
import { animation, bytesOf, expectedHash, gradient, pngChunk } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const SECRET = 'Calle Falsa 742'
const EXIF = {
  IFD0: { Copyright: SECRET, Software: SECRET },
  IFD3: {
    GPSLatitudeRef: 'S',
    GPSLatitude: '33/1 26/1 0/1',
    GPSLongitudeRef: 'W',
    GPSLongitude: '70/1 39/1 0/1',
  },
}
const XMP = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:rights="${SECRET}"/></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`

const tagged = (image: Sharp, orientation: number) =>
  image.withMetadata({ orientation }).withExif(EXIF).withXmp(XMP).withIccProfile('p3')

/** A JPEG with a comment, a picture behind its end, and a comment between its scans. */
async function crowdedJpeg(): Promise<Buffer> {
  const jpeg = await tagged(gradient(60, 40), 6).jpeg({ progressive: true }).toBuffer()
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, SECRET.length + 2]), Buffer.from(SECRET)])
  const secondScan = jpeg.indexOf(Buffer.from([0xff, 0xda]), jpeg.indexOf(Buffer.from([0xff, 0xda])) + 2)
  return Buffer.concat([
    jpeg.subarray(0, 2),
    comment,
    jpeg.subarray(2, secondScan),
    comment,
    jpeg.subarray(secondScan),
    await tagged(gradient(30, 20), 1).jpeg().toBuffer(),
  ])
}

async function commentedPng(): Promise<Buffer> {
  const png = await tagged(gradient(60, 40), 6).png().toBuffer()
  const text = pngChunk('tEXt', Buffer.from(`Comment\0${SECRET}`, 'latin1'))
  return Buffer.concat([png.subarray(0, 33), text, png.subarray(33), Buffer.from(SECRET)])
}

async function commentedGif(): Promise<Buffer> {
  const gif = await (await animation(60, 40, ['#f00', '#0f0'])).gif({ loop: 3, delay: [100, 200] }).toBuffer()
  const comment = Buffer.concat([Buffer.from([0x21, 0xfe, SECRET.length]), Buffer.from(`${SECRET}\0`)])
  return Buffer.concat([gif.subarray(0, -1), comment, gif.subarray(-1)])
}

/** The same with a small picture in a directory that is not a page, as cameras store thumbnails. */
function withThumbnail(tiff: Buffer): Buffer {
  const text = Buffer.from(`${SECRET} \0`)
  const thumbnail = tiffDirectory([
    tiffEntry(270, 2, text.length, tiff.length),
    tiffEntry(273, 4, 1, tiff.length + text.length),
    tiffEntry(279, 4, 1, text.length),
  ])
  const thumbnailAt = tiff.length + 2 * text.length
  const main = tiffDirectory([...firstEntries(tiff), tiffEntry(330, 4, 1, thumbnailAt)].toSorted(byTag))
  const out = Buffer.concat([tiff, text, text, thumbnail, main])
  out.writeUInt32LE(thumbnailAt + thumbnail.length, 4)
  return out
}

const images: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['JPEG', await tagged(gradient(60, 40), 6).jpeg().toBuffer()],
  ['crowded JPEG', await crowdedJpeg()],
  [
    'CMYK JPEG',
    await tagged(gradient(60, 40).toColourspace('cmyk'), 3).withIccProfile('cmyk').jpeg().toBuffer(),
  ],
  ['PNG', await commentedPng()],
  ['WebP', await tagged(gradient(60, 40), 6).webp().toBuffer()],
  ['AVIF', await tagged(gradient(60, 40), 1).avif().toBuffer()],
  ['TIFF', await tagged(gradient(60, 40), 6).tiff().toBuffer()],
  ['BigTIFF', await tagged(gradient(60, 40), 6).tiff({ bigtiff: true }).toBuffer()],
  ['BigTIFF in tiles', await tagged(gradient(60, 40), 6).tiff({ bigtiff: true, tile: true }).toBuffer()],
  ['TIFF with a thumbnail', withThumbnail(await tagged(gradient(60, 40), 6).tiff().toBuffer())],
  ['GIF', await commentedGif()],
]

const holdsSecret = (bytes: Buffer) =>
  bytes.includes(SECRET) || bytes.includes('GPS') || bytes.includes('xmpmeta')

const { client } = await startImages()
const { client: stripping } = await startImages({ flags: { strip: '1' } })

for (const [name, bytes] of images) {
  test(`${name}: derivatives have no metadata unless asked for it`, async () => {
    assert.ok(holdsSecret(bytes))
    const { body } = await client.upload(bytes)
    const hash = String(body['hash'])
    assert.ok((await bytesOf(await client.link(hash))).equals(bytes))
    for (const format of ['jpg', 'png', 'webp', 'avif', 'gif']) {
      const made = await bytesOf(await client.link(`${hash}&m=w_30,f_${format}`))
      assert.equal(holdsSecret(made), false, format)
      const { exif, xmp, width, height } = await sharp(made).metadata()
      assert.deepEqual([exif, xmp], [undefined, undefined], format)
      const { width: seenWidth, height: seenHeight } = body
      assert.deepEqual([width, height], [30, Math.round((Number(seenHeight) * 30) / Number(seenWidth))])
    }
    const kept = await bytesOf(await client.link(`${hash}&m=w_30,f_webp,meta_keep`))
    if (name !== 'GIF') assert.equal(holdsSecret(kept), true)
  })

  test(`${name}: with CATALEJO_STRIP, the original has no metadata either, and looks the same`, async () => {
    const { status, body } = await stripping.upload(bytes)
    assert.equal(status, 200)
    const hash = String(body['hash'])
    const original = await bytesOf(await stripping.link(hash))
    assert.deepEqual([hash, body['size']], [expectedHash(original), original.byteLength])
    assert.equal(holdsSecret(original), false)
    const look = async (of: Buffer) => {
      const { width, height, pages, delay, loop, orientation = 1, space, icc } = await sharp(of).metadata()
      return [width, height, pages, delay, loop, orientation, space, icc?.byteLength]
    }
    assert.deepEqual(await look(original), await look(bytes))
    const pixels = (of: Buffer) =>
      sharp(of, { animated: name === 'GIF' })
        .raw()
        .toBuffer()
    assert.ok((await pixels(original)).equals(await pixels(bytes)))
    // Readers there are refuse an AVIF whose Exif is none: it is one without entries.
    if (name === 'AVIF') assert.ok(original.includes('II*\0\b\0\0\0\0\0\0\0\0\0'))
    // Once more changes nothing.
    assert.equal((await stripping.upload(original)).body['hash'], hash)
    const kept = await bytesOf(await stripping.link(`${hash}&m=w_30,f_webp,meta_keep`))
    assert.equal(holdsSecret(kept), false)
  })
}

test('with CATALEJO_STRIP, damaged images are rejected', async () => {
  const [, jpeg = Buffer.alloc(0)] = images[0] ?? []
  const noMarker = Buffer.from('\xff\xd8\xff\xff\xff\xff', 'latin1')
  for (const bytes of [jpeg.subarray(0, 30), jpeg.subarray(0, -200), noMarker])
    assert.equal((await stripping.upload(bytes)).status, 401)
})
