/** Colours and transparency of derivatives: backgrounds, PNG gamma, profiles, GIF disposal, CMYK, and what `meta_keep` keeps. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { bytesOf, expectedHash, pngChunk, solid } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

type Rgba = readonly [number, number, number, number]

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const gAMA = (gamma: number) => pngChunk('gAMA', number(Math.round(gamma * 100_000)))
const cHRM = (...values: number[]) =>
  pngChunk('cHRM', Buffer.concat(values.map((value) => number(Math.round(value * 100_000)))))

/** A row of samples, each a pixel of `channels`, 8 or 16 bits, with more chunks in front of the pixels. */
function toPng(
  pixels: readonly (readonly number[])[],
  depth: 8 | 16,
  chunks: readonly Buffer[],
  palette = false,
): Buffer {
  const channels = pixels[0]?.length ?? 0
  const header = Buffer.alloc(13)
  header.writeUInt32BE(pixels.length)
  header.writeUInt32BE(1, 4)
  header[8] = depth
  header[9] = palette ? 3 : channels === 1 ? 0 : channels === 2 ? 4 : channels === 3 ? 2 : 6
  const samples = palette ? pixels.map((_, i) => i) : pixels.flat()
  const row = depth === 8 ? Buffer.from(samples) : Buffer.alloc(samples.length * 2)
  if (depth === 16) samples.forEach((sample, i) => row.writeUInt16BE(sample * 257, i * 2))
  const parts = [pngChunk('IHDR', header), ...chunks]
  if (palette) parts.push(pngChunk('PLTE', Buffer.from(pixels.flat())))
  const data = deflateSync(Buffer.concat([Buffer.of(0), row]))
  return Buffer.concat([SIGNATURE, ...parts, pngChunk('IDAT', data), pngChunk('IEND', Buffer.alloc(0))])
}

/** sRGB's own curve (IEC 61966-2-1). */
const encoded = (light: number) =>
  Math.round(255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055))

const { client } = await startImages()

async function derive(bytes: Buffer, modifier: string): Promise<Buffer> {
  assert.equal((await client.upload(bytes)).status, 200)
  const response = await client.link(`${expectedHash(bytes)}&m=${modifier}`)
  assert.equal(response.status, 200, modifier)
  return bytesOf(response)
}

async function toPixels(bytes: Buffer, page = 0): Promise<Rgba[]> {
  const { data } = await sharp(bytes, { page }).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return Array.from({ length: data.length / 4 }, (_, i) => {
    const [r = 0, g = 0, b = 0, a = 0] = data.subarray(i * 4, i * 4 + 4)
    return [r, g, b, a]
  })
}

function near(got: readonly number[] | undefined, wanted: readonly number[], what: string, slack = 2) {
  assert.ok(
    got?.length === wanted.length && wanted.every((value, i) => Math.abs(value - (got[i] ?? NaN)) <= slack),
    `${what}: ${String(got)} for ${wanted.join()}`,
  )
}

/** Clear, half red, opaque blue. */
const clear = toPng(
  [
    [0, 0, 0, 0],
    [255, 0, 0, 128],
    [0, 0, 255, 255],
  ],
  8,
  [],
)

for (const [modifier, wanted] of [
  [
    'bg_00ff00,f_png',
    [
      [0, 255, 0, 255],
      [128, 127, 0, 255],
      [0, 0, 255, 255],
    ],
  ],
  [
    'bg_00ff0080,f_png',
    [
      [0, 255, 0, 128],
      [170, 85, 0, 192],
      [0, 0, 255, 255],
    ],
  ],
  [
    'bg_00ff0000,f_png',
    [
      [0, 0, 0, 0],
      [255, 0, 0, 128],
      [0, 0, 255, 255],
    ],
  ],
  [
    'bg_00ff00ff,f_png,gray',
    [
      [0, 255, 0, 255],
      [54, 181, 54, 255],
      [76, 76, 76, 255],
    ],
  ],
  [
    'bg_00ff0080,f_png,rad_1',
    [
      [0, 255, 0, 128],
      [170, 85, 0, 192],
      [0, 0, 255, 255],
    ],
  ],
] as const) {
  test(`transparent pixels on ${modifier}`, async () => {
    const got = await toPixels(await derive(clear, modifier))
    // What gray is of a colour is the library's matter; what shows through it is not.
    const compared = modifier.includes('gray') ? [0] : modifier.includes('rad_') ? [1] : [0, 1, 2]
    for (const i of compared) {
      const expected = wanted[i] ?? []
      if (expected[3] === 0) assert.equal(got[i]?.[3], 0)
      else near(got[i], expected, `${modifier}, pixel ${i}`)
    }
  })
}

test('a translucent background is the same under the image and around it, and on white in JPEG', async () => {
  const large = await solid(40, 40, '#0000', 4).png().toBuffer()
  for (const [modifier, wanted] of [
    ['w_80,h_40,c_pad,bg_00ff0080,f_png', [0, 255, 0, 128]],
    ['pad_9,bg_00ff0080,f_webp', [0, 255, 0, 128]],
    ['w_80,h_40,c_pad,bg_00ff0080,f_jpg', [127, 255, 127, 255]],
    ['w_80,h_40,c_pad,bg_00ff0080,f_jpg,rad_max', [127, 255, 127, 255]],
    ['w_80,h_40,c_pad,f_jpg', [255, 255, 255, 255]],
    ['w_80,h_40,c_pad,bg_0f0,f_jpg', [0, 255, 0, 255]],
  ] as const) {
    for (const pixel of await toPixels(await derive(large, modifier))) near(pixel, wanted, modifier, 4)
  }
})

test('a translucent background lies under every frame of an animation, and under a watermark', async () => {
  const frame = (background: string) => solid(8, 8, background, 4).png().toBuffer()
  const moving = await sharp(await Promise.all(['#0000', '#f00f', '#0000'].map(frame)), {
    join: { animated: true },
  })
    .webp({ lossless: true })
    .toBuffer()
  const made = await derive(moving, 'bg_00ff0080,f_webp')
  near((await toPixels(made, 0))[0], [0, 255, 0, 128], 'first frame', 6)
  near((await toPixels(made, 1))[0], [255, 0, 0, 255], 'second frame', 6)
  near((await toPixels(made, 2))[0], [0, 255, 0, 128], 'third frame', 6)
})

test('gray keeps transparency', async () => {
  const grayAlpha = toPng(
    [
      [0, 0],
      [100, 128],
      [200, 255],
    ],
    8,
    [],
  )
  for (const [bytes, modifier] of [
    [grayAlpha, 'f_png,q_100'],
    [grayAlpha, 'f_png'],
    [grayAlpha, 'f_auto,up'],
    [grayAlpha, 'pad_1,f_png'],
    [clear, 'gray,f_png'],
    [clear, 'gray,f_webp'],
    [clear, 'gray,flop,flip,r_180,f_png'],
  ] as const) {
    const made = await toPixels(await derive(bytes, modifier))
    const alpha = made.map(([, , , a]) => a).filter((a) => !modifier.includes('pad') || a > 0)
    const wanted = modifier.includes('pad') ? [128, 255] : [0, 128, 255]
    assert.deepEqual(alpha, wanted, modifier)
  }
})

const samples = [0, 32, 64, 128, 192, 255]
const grays = samples.map((value) => [value])
const colours = samples.map((value) => [value, 255 - value, 128])
for (const gamma of [1, 0.25]) {
  for (const [kind, png] of [
    ['gray, 8 bits', toPng(grays, 8, [gAMA(gamma)])],
    ['gray, 16 bits', toPng(grays, 16, [gAMA(gamma)])],
    [
      'gray and alpha',
      toPng(
        grays.map(([v = 0]) => [v, 255]),
        8,
        [gAMA(gamma)],
      ),
    ],
    ['colours, 8 bits', toPng(colours, 8, [gAMA(gamma)])],
    ['colours, 16 bits', toPng(colours, 16, [gAMA(gamma)])],
    [
      'colours and alpha',
      toPng(
        colours.map((pixel) => [...pixel, 255]),
        8,
        [gAMA(gamma)],
      ),
    ],
    ['a palette', toPng(colours, 8, [gAMA(gamma)], true)],
  ] as const) {
    test(`gAMA ${gamma} of a PNG counts: ${kind}`, async () => {
      for (const modifier of ['f_png,q_100', 'f_png,flop']) {
        const got = await toPixels(await derive(png, modifier))
        const pixels = modifier.includes('flop') ? got.toReversed() : got
        const source = kind.startsWith('gray') ? grays.map(([v = 0]) => [v, v, v]) : colours
        source.forEach((pixel, i) => {
          const wanted = pixel.map((value) => encoded((value / 255) ** (1 / gamma)))
          near(pixels[i], [...wanted, 255], `${kind}, ${modifier}, pixel ${i}`, kind.includes('16') ? 5 : 3)
        })
      }
    })
  }
}

for (const [what, chunks] of [
  ['gAMA of sRGB', [gAMA(0.45455)]],
  ['sRGB before gAMA', [pngChunk('sRGB', Buffer.of(0)), gAMA(1)]],
  ['a gAMA of nothing', [pngChunk('gAMA', number(0))]],
  ['cHRM of sRGB', [cHRM(0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06), gAMA(0.45455)]],
  ['cHRM of no colours', [cHRM(0, 0, 0, 0, 0, 0, 0, 0), gAMA(0.45455)]],
] as const) {
  test(`${what} changes nothing`, async () => {
    const got = await toPixels(await derive(toPng(colours, 8, chunks), 'f_png,q_100'))
    colours.forEach((pixel, i) => near(got[i], [...pixel, 255], what, 0))
  })
}

test('cHRM counts: Display P3 by chunks is Display P3 by profile, of 8 and of 16 bits', async () => {
  const p3 = [cHRM(0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06), gAMA(0.45455)]
  const pixels = [
    [200, 100, 100],
    [100, 180, 100],
    [90, 90, 190],
    [128, 128, 128],
  ]
  const converted = await sharp(toPng(pixels, 8, []))
    .withIccProfile('p3')
    .png()
    .toBuffer()
  const samples = await sharp(converted, { ignoreIcc: true }).removeAlpha().raw().toBuffer()
  const stored = pixels.map((_, i) => [...samples.subarray(i * 3, i * 3 + 3)])
  assert.notDeepEqual(stored, pixels)
  const { icc } = await sharp(converted).metadata()
  assert.ok(icc !== undefined)
  const iCCP = pngChunk('iCCP', Buffer.concat([Buffer.from('P3\0\0'), deflateSync(Uint8Array.from(icc))]))
  for (const depth of [8, 16] as const) {
    const byChunks = await toPixels(await derive(toPng(stored, depth, p3), 'f_png,q_100'))
    pixels.forEach((wanted, i) => near(byChunks[i], [...wanted, 255], `chunks, ${depth} bits, ${i}`, 3))
    const byProfile = await toPixels(await derive(toPng(stored, depth, [iCCP]), 'f_png,q_100'))
    pixels.forEach((wanted, i) =>
      near(byProfile[i], [...wanted, 255], `profile, ${depth} bits, pixel ${i}`, 3),
    )
  }
})
/** Indices as 9-bit or 3-bit codes that refer to no string. */
function lzw(indices: readonly number[], bits: number): Buffer {
  const clear = 1 << bits
  const codes = indices.flatMap((index, i) => (i % (clear - 2) === 0 ? [clear, index] : [index]))
  const stream = [...codes, clear + 1].map((code) =>
    code
      .toString(2)
      .padStart(bits + 1, '0')
      .split('')
      .reverse()
      .join(''),
  )
  const octets = stream.join('').match(/.{1,8}/g) ?? []
  const data = Buffer.from(octets.map((octet) => parseInt(octet.split('').reverse().join(''), 2)))
  const blocks = [Buffer.of(bits)]
  for (let at = 0; at < data.length; at += 255) {
    const block = data.subarray(at, at + 255)
    blocks.push(Buffer.of(block.length), block)
  }
  return Buffer.concat([...blocks, Buffer.of(0)])
}

interface GifFrame {
  readonly at: readonly [x: number, y: number, width: number, height: number]
  readonly indices: readonly number[]
  readonly disposal?: number
}

/** @param background index of the colour that the screen descriptor names, which browsers do not show */
function toGif(
  width: number,
  height: number,
  table: readonly number[],
  frames: readonly GifFrame[],
  background = 1,
): Buffer {
  const bits = Math.max(2, Math.log2(table.length / 3))
  const short = (value: number) => [value & 0xff, value >> 8]
  const parts: Buffer[] = [
    Buffer.from('GIF89a'),
    Buffer.from([...short(width), ...short(height), 0x80 | (bits - 1), background, 0]),
    Buffer.from(table),
  ]
  for (const { at, indices, disposal } of frames) {
    if (disposal !== undefined) parts.push(Buffer.from([0x21, 0xf9, 4, disposal << 2, 10, 0, 0, 0]))
    parts.push(Buffer.from([0x2c, ...at.flatMap(short), 0]), lzw(indices, bits))
  }
  return Buffer.concat([...parts, Buffer.of(0x3b)])
}

const four = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
const repeated = (index: number, pixels: number) => Array.from({ length: pixels }, () => index)
/** A pixel as a letter: red, green, blue, white, clear. */
const letter = ([r, g, b, a]: Rgba) =>
  a < 128 ? '-' : ('krgybmcw'[(r >> 7) + (g >> 7) * 2 + (b >> 7) * 4] ?? '?')

for (const [disposal, rows] of [
  [undefined, ['rrrr----', 'rrrrbb--', 'rrrrbbww']],
  [0, ['rrrr----', 'rrrrbb--', 'rrrrbbww']],
  [1, ['rrrr----', 'rrrrbb--', 'rrrrbbww']],
  [2, ['rrrr----', '----bb--', '------ww']],
  [3, ['rrrr----', '----bb--', '------ww']],
] as const) {
  test(`GIF disposal ${disposal} leaves what browsers show`, async () => {
    const frames = [
      { at: [0, 0, 4, 4], indices: repeated(0, 16) },
      { at: [4, 0, 2, 4], indices: repeated(2, 8) },
      { at: [6, 0, 2, 4], indices: repeated(3, 8) },
    ] as const
    const gif = toGif(
      8,
      4,
      four,
      frames.map((frame) => (disposal === undefined ? frame : { ...frame, disposal })),
    )
    for (const modifier of ['w_8,f_webp,sharpen', 'f_gif,up']) {
      const made = await derive(gif, modifier)
      assert.equal((await sharp(made).metadata()).pages, 3)
      for (const [page, row] of rows.entries()) {
        const pixels = await toPixels(made, page)
        assert.equal(pixels.slice(0, 8).map(letter).join(''), row, `${modifier}, frame ${page}`)
      }
    }
    const still = await toPixels(await derive(gif, 'frame_1,f_png'))
    assert.equal(still.slice(0, 8).map(letter).join(''), rows[1])
  })
}

test('a GIF frame that uses all 256 colours is restored to the background all the same', async () => {
  const table = Array.from({ length: 256 }, (_, i) => [i, i, 255 - i]).flat()
  const gif = toGif(16, 17, table, [
    { at: [0, 0, 16, 17], disposal: 2, indices: Array.from({ length: 272 }, (_, i) => i & 0xff) },
    { at: [0, 0, 1, 1], disposal: 1, indices: [255] },
  ])
  const made = await derive(gif, 'f_webp,q_100')
  const first = await toPixels(made, 0)
  assert.ok(first.every(([, , , alpha]) => alpha === 255))
  const second = await toPixels(made, 1)
  assert.deepEqual(
    second.map(([, , , alpha]) => alpha),
    [255, ...repeated(0, 271)],
  )
})
