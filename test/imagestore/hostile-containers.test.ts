/** Containers that name the same bytes again and again: a small file must not take much time or memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { firstEntries, jpegSegment, tiffDirectory, tiffEntry } from '../support/image-containers.ts'
import { bytesOf, DAMAGED, expectedHash, gradient, plain } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const SECRET = 'Calle Falsa 742'
const DIRECTORY_AT = 8
const jpeg = await gradient(60, 40).jpeg().toBuffer()
const avif = await gradient(60, 40).avif({ effort: 0 }).toBuffer()
const tiff = await gradient(60, 40).tiff().toBuffer()

const repeat = (count: number, one: Buffer): Buffer => Buffer.alloc(count * one.length, one)

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const toEntries = (count: number, one: Buffer) => Array.from({ length: count }, () => one)

const toExif = (entries: readonly Buffer[]) =>
  Buffer.concat([Buffer.from('II*\0\x08\0\0\0', 'latin1'), tiffDirectory(entries)])

const jpegWith = (...segments: readonly Buffer[]) =>
  Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)])

const exifSegment = (exif: Buffer) =>
  jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif]))

const jpegWithXmp = (elements: string) =>
  jpegWith(
    jpegSegment(
      0xe1,
      Buffer.from(
        `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x="adobe:ns:meta/"><x:note>${SECRET}</x:note>${elements}</x:xmpmeta>`,
      ),
    ),
  )

const box = (type: string, ...content: readonly Buffer[]) => {
  const body = Buffer.concat(content)
  return Buffer.concat([uint32(body.length + 8), Buffer.from(type, 'latin1'), body])
}

/** With an index before its own, of items that have 65,535 extents of no bytes each. */
function avifOfManyExtents(items: number): Buffer {
  const header = avif.subarray(0, avif.readUInt32BE(0))
  const info = box('infe', Buffer.from('02000000000100004578696600', 'hex'))
  const infos = box('iinf', Buffer.from('000000000001', 'hex'), info)
  const item = Buffer.from('0000000100000000ffff', 'hex')
  const locations = box('iloc', Buffer.from('020000000000ffffffff', 'hex'), repeat(items, item))
  return Buffer.concat([header, box('meta', Buffer.alloc(4), infos, locations), avif.subarray(header.length)])
}

/** The picture's own entries and others, in a directory at the end. */
function tiffWith(entriesAt: (at: number) => readonly Buffer[], isLoop = false): Buffer {
  const start = Buffer.concat([tiff, Buffer.alloc(tiff.length & 1)])
  start.writeUInt32LE(start.length, 4)
  const all = [...firstEntries(tiff), ...entriesAt(start.length)]
  return Buffer.concat([start, tiffDirectory(all, isLoop ? start.length : 0)])
}

/**
 * Pages of one row.
 * @param widthOf a page, from 0; 1 by default
 * @param pixelsAt the offset of the pixels of a page; that of the directories' start by default
 */
function tiffOfPages(pages: number, widthOf = (_page: number) => 1, pixelsAt = (_page: number) => 8): Buffer {
  const entriesOfPage = (page: number) => [
    tiffEntry(256, 3, 1, widthOf(page)),
    tiffEntry(257, 3, 1, 1),
    tiffEntry(258, 3, 1, 8),
    tiffEntry(259, 3, 1, 1),
    tiffEntry(262, 3, 1, 1),
    tiffEntry(273, 4, 1, pixelsAt(page)),
    tiffEntry(277, 3, 1, 1),
    tiffEntry(278, 3, 1, 1),
    tiffEntry(279, 4, 1, widthOf(page)),
  ]
  const first = DIRECTORY_AT + 2
  const size = tiffDirectory(entriesOfPage(0)).length
  return Buffer.concat([
    Buffer.from('II*\0\x0a\0\0\0\x80\x80', 'latin1'),
    ...Array.from({ length: pages }, (_, i) =>
      tiffDirectory(entriesOfPage(i), i === pages - 1 ? 0 : first + (i + 1) * size),
    ),
  ])
}

/** The same file as BigTIFF, with 64-bit offsets. */
function toBigTiff(tiff: Buffer): Buffer {
  const pages: Buffer[][] = []
  for (let at = tiff.readUInt32LE(4); at !== 0;) {
    const count = tiff.readUInt16LE(at)
    const entries = Array.from({ length: count }, (_, i) => {
      const from = at + 2 + i * 12
      const wide = Buffer.alloc(20)
      tiff.copy(wide, 0, from, from + 4)
      wide.writeBigUInt64LE(BigInt(tiff.readUInt32LE(from + 4)), 4)
      wide.writeBigUInt64LE(BigInt(tiff.readUInt32LE(from + 8)), 12)
      return wide
    })
    pages.push(entries)
    at = tiff.readUInt32LE(at + 2 + count * 12)
  }
  const header = Buffer.from('II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0', 'latin1')
  let end = header.length
  const directories = pages.map((entries, i) => {
    const bytes = Buffer.concat([Buffer.alloc(8), ...entries, Buffer.alloc(8)])
    end += bytes.length
    bytes.writeBigUInt64LE(BigInt(entries.length))
    if (i < pages.length - 1) bytes.writeBigUInt64LE(BigInt(end), bytes.length - 8)
    return bytes
  })
  return Buffer.concat([header, ...directories])
}

const { client } = await startImages()

const alternately = (page: number) => 1 + (page % 2)

test('TIFFs of thousands of pages, of one size or of different ones, are accepted', async () => {
  assert.equal((await client.upload(tiffOfPages(5_000))).status, 200)
  assert.equal((await client.upload(tiffOfPages(1_000, alternately))).status, 200)
})

test('every page of a TIFF of different sizes is decoded', async () => {
  for (const convert of [(bytes: Buffer) => bytes, toBigTiff]) {
    assert.equal((await client.upload(convert(tiffOfPages(5, alternately)))).status, 200)
    for (let damaged = 0; damaged < 5; damaged++) {
      const pastTheEnd = (page: number) => (page === damaged ? 1_000_000 : 8)
      const bytes = convert(tiffOfPages(5, alternately, pastTheEnd))
      assert.deepEqual(plain(await client.upload(bytes)), DAMAGED, `page ${damaged}`)
    }
  }
})

test('a TIFF whose directory is its own successor is rejected', async () => {
  assert.deepEqual(plain(await client.upload(tiffWith(() => [], true))), DAMAGED)
})

const kept = async (bytes: Buffer) => {
  assert.equal((await client.upload(bytes)).status, 200)
  const link = await client.link(`${expectedHash(bytes)}&m=w_30,f_png,meta_keep`)
  assert.equal(link.status, 200)
  return sharp(await bytesOf(link)).metadata()
}

test('meta_keep drops an XMP packet whose thumbnails have no end', async () => {
  assert.match((await kept(jpegWithXmp('<x:Data/>'))).xmp?.toString() ?? '', /Calle Falsa/)
  const { xmp } = await kept(jpegWithXmp('<x:Thumbnails>'.repeat(4_000)))
  assert.ok(xmp === undefined)
})

test('meta_keep repeats no EXIF value more often than its bytes allow', async () => {
  const bytes = jpegWith(exifSegment(toExif(toEntries(5_000, tiffEntry(315, 2, 4_000, 1_000)))))
  const { exif } = await kept(bytes)
  assert.ok(exif === undefined || exif.length < 2 * bytes.length)
})

const { client: stripping } = await startImages({ flags: { strip: '1' } })

const stored = async (bytes: Buffer) => {
  const { status, body } = await stripping.upload(bytes)
  assert.equal(status, 200)
  return bytesOf(await stripping.link(String(body['hash'])))
}

test('an AVIF of extents of no bytes is stripped', async () => {
  const bytes = avifOfManyExtents(500_000)
  assert.ok([200, 401].includes((await stripping.upload(bytes)).status))
  assert.equal((await stripping.upload(avif)).status, 200)
})

test('what follows the boxes of an AVIF is removed', async () => {
  const bytes = Buffer.concat([avif, box('uuid', Buffer.from(SECRET)), Buffer.from(SECRET)])
  const stripped = await stored(bytes)
  assert.equal(stripped.includes(SECRET), false)
  assert.ok((await sharp(stripped).raw().toBuffer()).equals(await sharp(avif).raw().toBuffer()))
})

test('a TIFF whose entries all name the same megabytes is stripped', async () => {
  const start = tiffWith(() => [])
  const at = start.length + 1_000_000
  const size = 15_000_000
  const many = tiffWith(() => toEntries(60_000, tiffEntry(40_000, 7, size, at)))
  const bytes = Buffer.concat([many, Buffer.alloc(at + size - many.length, SECRET)])
  assert.ok([200, 401].includes((await stripping.upload(bytes)).status))
})

test('a TIFF whose directory of 60,000 entries is its own successor is rejected', async () => {
  const bytes = tiffWith(() => toEntries(60_000, tiffEntry(532, 3, 1, 1)), true)
  assert.deepEqual(plain(await stripping.upload(bytes)), DAMAGED)
})

test('a JPEG of millions of segments is stripped', async () => {
  const original = jpegWith(repeat(4_500_000, jpegSegment(0xe5, Buffer.alloc(0))))
  assert.ok((await stored(original)).equals(jpeg))
})
