import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readBmpHeader, readStructure } from '../../lib/image-metadata/index.ts'
import { decodeBmp } from './foreign-formats.ts'
import { RejectedImage } from './source.ts'

interface Drawing {
  readonly width: number
  /** Negative if the first row is the top one. */
  readonly height: number
  readonly depth: number
  readonly compression?: number
  readonly headerBytes?: number
  /** Blue, green, red and a byte that means nothing. */
  readonly palette?: readonly number[]
  readonly masks?: readonly number[]
  /** As hexadecimal digits, rows as in the file. */
  readonly pixels: string
}

/** A file as it is specified, written field by field. */
function bmp(drawing: Drawing): Buffer {
  const { width, height, depth, compression = 0, headerBytes = 40, palette = [], masks = [] } = drawing
  const header = Buffer.alloc(14 + headerBytes)
  header.write('BM')
  header.writeUInt32LE(headerBytes, 14)
  if (headerBytes === 12) {
    for (const [i, value] of [width, height, 1, depth].entries()) header.writeUInt16LE(value, 18 + i * 2)
  } else {
    header.writeInt32LE(width, 18)
    header.writeInt32LE(height, 22)
    header.writeUInt16LE(1, 26)
    header.writeUInt16LE(depth, 28)
    header.writeUInt32LE(compression, 30)
    header.writeUInt32LE(palette.length / 4, 46)
  }
  const words = Buffer.alloc(masks.length * 4)
  for (const [i, mask] of masks.entries()) words.writeUInt32LE(mask, i * 4)
  words.copy(header, 54)
  const rest = Buffer.concat([words.subarray(Math.max(0, headerBytes - 40)), Buffer.from(palette)])
  header.writeUInt32LE(header.length + rest.length, 10)
  return Buffer.concat([header, rest, Buffer.from(drawing.pixels.replaceAll(' ', ''), 'hex')])
}

const BLACK_AND_RED = [0, 0, 0, 0, 10, 20, 200, 0]
const FOUR = [0, 0, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 0, 0, 255, 0]
const RED_ALPHA = [0xff, 0xff00, 0xff0000, 0xff000000]

/** Samples of each row from the top. */
const drawings: Readonly<Record<string, Drawing & { readonly rows: readonly string[] }>> = {
  '1 bit': {
    width: 10,
    height: 2,
    depth: 1,
    palette: BLACK_AND_RED,
    pixels: 'a080 0000 0040 0000',
    rows: ['000000'.repeat(9) + 'c8140a', `${'c8140a000000'.repeat(2)}${'000000'.repeat(4)}c8140a000000`],
  },
  '4 bits': {
    width: 3,
    height: -2,
    depth: 4,
    palette: FOUR,
    pixels: '1230 0000 3010 0000',
    rows: ['0000ff00ff00ff0000', 'ff00000000000000ff'],
  },
  '8 bits, with an index that the palette lacks': {
    width: 3,
    height: 1,
    depth: 8,
    palette: FOUR,
    pixels: '03 09 01 00',
    rows: ['ff00000000000000ff'],
  },
  '8 bits of OS/2': {
    width: 2,
    height: 1,
    depth: 8,
    headerBytes: 12,
    palette: [0, 0, 0, 1, 2, 3],
    pixels: '01 00 0000',
    rows: ['030201000000'],
  },
  '16 bits': { width: 2, height: 1, depth: 16, pixels: 'ff7f e07c', rows: ['ffffffff3a00'] },
  '16 bits, 5-6-5': {
    width: 2,
    height: 1,
    depth: 16,
    compression: 3,
    masks: [0xf800, 0x07e0, 0x001f],
    pixels: '00f8 e007',
    rows: ['ff000000ff00'],
  },
  '24 bits': {
    width: 1,
    height: 2,
    depth: 24,
    pixels: '010203 00 040506 00',
    rows: ['060504', '030201'],
  },
  '24 bits from the top, without the padding of the last row': {
    width: 1,
    height: -2,
    depth: 24,
    pixels: '010203 00 040506',
    rows: ['030201', '060504'],
  },
  '32 bits, of which 8 mean nothing': {
    width: 1,
    height: 1,
    depth: 32,
    pixels: '01020380',
    rows: ['030201'],
  },
  '32 bits with alpha': {
    width: 2,
    height: 1,
    depth: 32,
    compression: 3,
    headerBytes: 108,
    masks: RED_ALPHA,
    pixels: '01020380 00000000',
    rows: ['0102038000000000'],
  },
  '32 bits with an alpha of nothing': {
    width: 1,
    height: 1,
    depth: 32,
    compression: 3,
    headerBytes: 124,
    masks: RED_ALPHA,
    pixels: '01020300',
    rows: ['010203ff'],
  },
  'runs of 8 bits': {
    width: 4,
    height: 3,
    depth: 8,
    compression: 1,
    palette: FOUR,
    // Two of red, two of green; the next row has a copied stretch of three; then one to the right of a skipped pixel.
    pixels: '0203 0202 0000 0003 010203 00 0000 0002 0100 0101 0001',
    rows: ['0000000000ff000000000000', '0000ff00ff00ff0000000000', 'ff0000ff000000ff0000ff00'],
  },
  'runs of 4 bits, without the mark of the end': {
    width: 5,
    height: 1,
    depth: 4,
    compression: 2,
    palette: FOUR,
    pixels: '0312 0232',
    rows: ['0000ff00ff000000ffff000000ff00'],
  },
}

for (const [name, { rows, ...drawing }] of Object.entries(drawings)) {
  test(name, () => {
    const bytes = bmp(drawing)
    assert.equal(readStructure('bmp', bytes).complete, true)
    const { data, width, height, channels } = decodeBmp(bytes)
    assert.deepEqual([width, height], [drawing.width, Math.abs(drawing.height)])
    const rowBytes = width * channels
    const decoded = rows.map((_, y) => Buffer.from(data).toString('hex', y * rowBytes, (y + 1) * rowBytes))
    assert.deepEqual(decoded, rows)
  })
}

test('a file that ends before its pixels is incomplete', () => {
  for (const [name, drawing] of Object.entries(drawings)) {
    const bytes = bmp(drawing)
    const isPadded =
      ['16', '32'].some((depth) => name.startsWith(depth)) || name.includes('without the padding')
    if (isPadded) assert.equal(readStructure('bmp', bytes.subarray(0, -1)).complete, false, name)
    assert.equal(readStructure('bmp', bytes.subarray(0, 30)).complete, false, name)
  }
  const runs = bmp({ ...drawings['runs of 8 bits'], width: 4, height: 3, depth: 8, pixels: '0203 0202' })
  assert.throws(() => decodeBmp(runs), RejectedImage)
})

test('whatever the bytes, decoding ends, with as many samples as the header says or with a refusal', () => {
  const valid = Object.values(drawings).map(bmp)
  const change = fc.tuple(fc.nat(), fc.nat(255))
  const mutated = fc
    .tuple(fc.constantFrom(...valid), fc.array(change, { minLength: 1, maxLength: 6 }), fc.nat(40))
    .map(([bytes, changes, cut]) => {
      const copy = Buffer.from(bytes.subarray(0, bytes.length - (cut > 30 ? cut - 30 : 0)))
      // Only the lowest byte of a size changes: the engine refuses larger pictures before decoding.
      for (const [at, value] of changes) {
        const place = 10 + (at % (copy.length - 10))
        if (![19, 20, 21, 23, 24, 25].includes(place)) copy[place] = value
      }
      return copy
    })
  const random = fc.uint8Array({ minLength: 60, maxLength: 300 }).map((bytes) => {
    const copy = Buffer.from(bytes)
    bmp({ width: 7, height: -5, depth: 8, pixels: '' }).copy(copy, 0, 0, 28)
    return copy
  })
  fc.assert(
    fc.property(fc.oneof(mutated, random), (bytes) => {
      const header = readBmpHeader(bytes)
      if (header === undefined || !readStructure('bmp', bytes).complete) return
      try {
        const { data, width, height, channels } = decodeBmp(bytes)
        assert.deepEqual([width, height], [header.width, header.height])
        assert.equal(data.length, width * height * channels)
      } catch (error) {
        assert.ok(error instanceof RejectedImage, String(error))
      }
    }),
    { numRuns: 3_000 },
  )
})
