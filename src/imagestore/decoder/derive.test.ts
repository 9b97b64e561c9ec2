import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import sharp, { type OverlayOptions } from 'sharp'
import { defaultGrammar, parseModifiers } from '../modifiers/index.ts'
import { ImageEngine, type WatermarkFile } from './index.ts'

const engine = new ImageEngine({ workers: 2 })
const folder = await mkdtemp(join(tmpdir(), 'catalejo-derive-'))
after(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/dhash/${name}`, import.meta.url))

const grammar = { ...defaultGrammar, watermarks: new Set(['logo']) }

async function derive(path: string, modifiers: string, watermark?: WatermarkFile) {
  const parsed = parseModifiers(modifiers, undefined, grammar)
  assert.ok(parsed.ok)
  const { format, ...plan } = parsed.transformation
  assert.ok(format !== 'auto')
  const got = await engine.derive(
    path,
    { ...plan, format },
    undefined,
    plan.watermark === null ? undefined : watermark,
  )
  assert.ok(got.kind === 'image', `${path} ${modifiers}: ${JSON.stringify(got)}`)
  const metadata = await sharp(got.bytes).metadata()
  return { ...got, metadata }
}

/** Four colours, one a quarter: red, green / blue, white. */
const quarters = join(folder, 'quarters.png')
const tile = (background: string, left: number, top: number): OverlayOptions => ({
  input: { create: { width: 100, height: 50, channels: 3, background } },
  left,
  top,
})
await sharp({ create: { width: 200, height: 100, channels: 3, background: '#fff' } })
  .composite([tile('#f00', 0, 0), tile('#0f0', 100, 0), tile('#00f', 0, 50)])
  .png()
  .toFile(quarters)

/** Colours at the four corners, as one letter each: top left, top right, bottom left, bottom right. */
async function corners(bytes: Uint8Array): Promise<string> {
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number): string => {
    const p = (y * info.width + x) * 4
    const [red = 0, green = 0, blue = 0, alpha = 0] = data.subarray(p, p + 4).map((v) => (v > 127 ? 1 : 0))
    return alpha === 0 ? '-' : ('krgybmcw'[red + green * 2 + blue * 4] ?? '?')
  }
  const [right, bottom] = [info.width - 2, info.height - 2]
  return at(1, 1) + at(right, 1) + at(1, bottom) + at(right, bottom)
}

test('transformations move the right corners', async () => {
  const cases: Record<string, string> = {
    '': 'rgbw',
    r_90: 'brwg',
    r_180: 'wbgr',
    flip: 'bwrg',
    flop: 'grwb',
    'r_90,flop': 'rbgw',
    'c_crop,40x40,g_sw': 'bbbb',
    'c_fill,50x50,g_e': 'ggww',
    'c_crop,40x40,g_xy_0.8_0.2': 'gggg',
    'c_pad,100x100,bg_0ff': 'cccc',
    'pad_5,bg_f0f': 'mmmm',
    pad_5: '----',
    rad_max: '----',
    'rad_max,f_jpg': 'wwww',
    trim: 'rgbw',
  }
  for (const [modifiers, want] of Object.entries(cases)) {
    assert.equal(await corners((await derive(quarters, modifiers)).bytes), want, modifiers)
  }
})

/** A red rectangle on blue, which `trim` leaves. */
const framed = join(folder, 'framed.png')
await sharp({ create: { width: 200, height: 150, channels: 3, background: '#00f' } })
  .composite([tile('#f00', 50, 50)])
  .png()
  .toFile(framed)

test('operations run in the documented order, whatever the order of the modifiers', async () => {
  const cyan = join(folder, 'cyan.png')
  await sharp({ create: { width: 20, height: 20, channels: 3, background: '#0ff' } })
    .png()
    .toFile(cyan)
  const place = { at: 'nw', width: 10, margin: 0, opacity: 100 } as const
  /** Size, corners, and the colours at some places. */
  const cases: readonly (readonly [path: string, modifiers: string, size: string, corners: RegExp])[] = [
    // Trimmed, then scaled.
    [framed, 'w_50,trim', '50x25', /rrrr/],
    // Turned, then mirrored, then scaled.
    [quarters, 'w_50,flop,r_90', '50x100', /rbgw/],
    // Mirrored, then cropped.
    [quarters, 'c_crop,40x40,g_nw,flip', '40x40', /bbbb/],
    // Scaled to one block, whose corners are alike.
    [quarters, 'pixelate_50,s_50x50,c_scale', '50x50', /(.)\1{3}/],
    // The border is neither gray nor blurred nor in blocks.
    [quarters, 'pad_10,bg_f0f,gray,blur_20,pixelate_100', '220x120', /mmmm/],
    // The border is rounded, too.
    [quarters, 'rad_20,pad_20,bg_f0f', '240x140', /----/],
    // The watermark covers a rounded corner and keeps its colour.
    [quarters, 'wm_logo,gray,rad_20', '200x100', /c---/],
  ]
  for (const [path, modifiers, size, expected] of cases) {
    const { bytes, metadata } = await derive(path, `${modifiers},f_png`, { path: cyan, place })
    assert.equal(`${metadata.width}x${metadata.height}`, size, modifiers)
    assert.match(await corners(bytes), expected, modifiers)
  }
})

test('animations keep their frames if the output format can', async () => {
  for (const [source, modifiers, frames] of [
    ['animated.gif', 'w_30', 3],
    ['animated.webp', 'w_30', 3],
    ['animated.gif', 'w_30,f_webp', 3],
    ['animated.webp', 'c_fill,20x20,f_gif', 3],
    ['animated.gif', 'w_30,f_png', 1],
    ['animated.gif', 'w_30,frame_1', 1],
    ['animated.gif', 'frame_9999,f_gif', 1],
    ['animated.webp', 'r_90', 1],
    ['animated.gif', 'c_fill,20x20,g_auto', 1],
  ] as const) {
    const { metadata } = await derive(fixture(source), modifiers)
    assert.equal(metadata.pages ?? 1, frames, `${source} ${modifiers}`)
  }
})

test('AVIF subsamples chroma below quality 90', async () => {
  // Reads from the decoder's configuration in the file (AV1-ISOBMFF, 2.3.3) whether colours are halved in width, in height.
  const halved = async (modifiers: string) => {
    const { bytes } = await derive(quarters, modifiers)
    const flags = bytes[Buffer.from(bytes).indexOf('av1C') + 6] ?? 0
    return [(flags >> 3) & 1, (flags >> 2) & 1]
  }
  assert.deepEqual(await halved('f_avif'), [1, 1])
  assert.deepEqual(await halved('f_avif,q_89'), [1, 1])
  assert.deepEqual(await halved('f_avif,q_90'), [0, 0])
})
