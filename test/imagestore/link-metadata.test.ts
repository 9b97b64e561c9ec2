/** What `meta_keep` keeps: what is said of a picture, and no other picture. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import sharp from 'sharp'
import { jpegSegment } from '../support/image-containers.ts'
import { bytesOf, expectedHash, gradient } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const thumbnail = await gradient(16, 12).jpeg().toBuffer()
const base64 = thumbnail.toString('base64')

/** Two directories, big-endian: the author and the orientation, makers' notes with a preview; then a thumbnail. */
function exifWithThumbnail(): Buffer {
  const author = Buffer.from('Autora Secreta\0\0')
  const entry = (tag: number, type: number, count: number, value: number) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt16BE(tag)
    bytes.writeUInt16BE(type, 2)
    bytes.writeUInt32BE(count, 4)
    if (type === 3) bytes.writeUInt16BE(value, 8)
    else bytes.writeUInt32BE(value, 8)
    return bytes
  }
  const count = (n: number) => Buffer.from([0, n])
  const next = (at: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(at)
    return bytes
  }
  const second = 8 + 2 + 4 * 12 + 4
  const values = second + 2 + 3 * 12 + 4
  const exif = values + author.length
  const preview = exif + 2 + 12 + 4
  const first = [
    entry(0x0112, 3, 1, 6),
    entry(0x013b, 2, author.length, values),
    entry(0x8769, 4, 1, exif),
    entry(0xc4a5, 7, thumbnail.length, preview),
  ]
  const thumb = [entry(0x0103, 3, 1, 6), entry(0x0201, 4, 1, preview), entry(0x0202, 4, 1, thumbnail.length)]
  return Buffer.concat([
    Buffer.from('Exif\0\0MM\0*\0\0\0\x08', 'latin1'),
    count(4),
    ...first,
    next(second),
    count(3),
    ...thumb,
    next(0),
    author,
    count(1),
    entry(0x927c, 7, thumbnail.length, preview),
    next(0),
    thumbnail,
  ])
}

const xmp = Buffer.from(
  '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' +
    '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" ' +
    'xmlns:xmpGImg="http://ns.adobe.com/xap/1.0/g/img/"><dc:rights>Todos los derechos</dc:rights><xmp:Thumbnails><rdf:Alt>' +
    `<rdf:li><xmpGImg:image>${base64}</xmpGImg:image></rdf:li></rdf:Alt></xmp:Thumbnails></rdf:Description></rdf:RDF></x:xmpmeta>`,
)

function resource(id: number, data: Buffer): Buffer {
  const head = Buffer.from('8BIM\0\0\0\0\0\0\0\0', 'latin1')
  head.writeUInt16BE(id, 4)
  head.writeUInt32BE(data.length, 8)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}
const iptc = Buffer.concat([Buffer.from('1c026e0007', 'hex'), Buffer.from('Agencia')])

/** A photograph with a thumbnail in every place that knows one. */
const photo = await gradient(80, 60).jpeg({ quality: 90 }).toBuffer()
const full = Buffer.concat([
  photo.subarray(0, 2),
  jpegSegment(0xe1, exifWithThumbnail()),
  jpegSegment(0xe1, Buffer.concat([Buffer.from('http://ns.adobe.com/xap/1.0/\0'), xmp])),
  jpegSegment(
    0xed,
    Buffer.concat([
      Buffer.from('Photoshop 3.0\0'),
      resource(1036, thumbnail),
      resource(0x0404, iptc),
      resource(1033, thumbnail),
    ]),
  ),
  jpegSegment(0xe2, Buffer.concat([Buffer.from('MPF\0'), thumbnail])),
  photo.subarray(2),
  thumbnail,
])

/** How often a picture begins in some bytes. */
const begins = (bytes: Buffer) => bytes.toString('latin1').split('\xff\xd8\xff').length - 1

const { client } = await startImages()
assert.equal((await client.upload(full)).status, 200)

const derive = async (modifier: string) => {
  const response = await client.link(`${expectedHash(full)}&m=${modifier}`)
  assert.equal(response.status, 200)
  return bytesOf(response)
}

for (const [modifier, format] of [
  ['w_30,meta_keep', 'jpeg'],
  ['w_30,r_90,pad_2,meta_keep', 'jpeg'],
  ['w_30,meta_keep,f_webp', 'webp'],
  ['w_30,meta_keep,f_png', 'png'],
  ['w_30,meta_keep,f_avif', 'heif'],
] as const) {
  test(`${modifier}: keeps author and rights, and no thumbnail`, async () => {
    const made = await derive(modifier)
    const { exif, xmp: kept, icc, orientation = 1, format: written } = await sharp(made).metadata()
    assert.equal(written, format)
    assert.match(exif?.toString('latin1') ?? '', /Autora Secreta/)
    assert.match(kept?.toString() ?? '', /Todos los derechos/)
    assert.doesNotMatch(kept?.toString() ?? '', /Thumbnails|GImg:image/)
    assert.deepEqual([orientation, icc], [1, undefined])
    assert.equal(begins(made), format === 'jpeg' ? 1 : 0)
    assert.ok(!made.includes(base64.slice(20, 60)))
    assert.equal(made.includes('Agencia'), format === 'jpeg')
  })
}

test('CMYK colours are the same with and without it', async () => {
  const cmyk = await readFile(new URL('../fixtures/dhash/cmyk.jpg', import.meta.url))
  const profiled = await gradient(60, 40).toColourspace('cmyk').withIccProfile('cmyk').jpeg().toBuffer()
  for (const bytes of [cmyk, profiled]) {
    await client.upload(bytes)
    for (const format of ['f_png', 'f_jpg', 'f_webp']) {
      const [plain, kept] = await Promise.all(
        ['', ',meta_keep'].map(async (more) => {
          const made = await bytesOf(await client.link(`${expectedHash(bytes)}&m=${format}${more}`))
          return sharp(made).removeAlpha().raw().toBuffer()
        }),
      )
      assert.ok(plain !== undefined && kept?.equals(plain), format)
    }
  }
})
