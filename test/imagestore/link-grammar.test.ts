/** The whole grammar of modifiers, by property, through the public door. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import { FIELDS, linkTokens, modifiers } from '../../src/imagestore/modifiers/index.ts'
import { anyCharacter } from '../support/any-character.ts'
import { propertyRuns } from '../support/effort.ts'
import { animation, answerOf, bytesOf, expectedHash, gradient } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const side = fc.integer({ min: 1, max: 120 })
const word = (...texts: string[]) => fc.constantFrom(...texts)
/** One token of each modifier, as a link may have it. A watermark is valid only if the settings have it. */
const families: readonly fc.Arbitrary<string>[] = [
  ...FIELDS.filter((field) => field !== 'watermark').map((field) => {
    if (field === 'width') return side.map((n) => `w_${n}`)
    if (field === 'height') return side.map((n) => `h_${n}`)
    return word(...modifiers[field].examples)
  }),
  word('s', 'b', 'thumb', 'p_m'),
  word(...linkTokens.expires.examples),
]
const modifier = fc
  .tuple(...families.map((family) => fc.option(family, { nil: undefined, freq: 2 })))
  .map((tokens) => tokens.filter((token) => token !== undefined))
  .chain((tokens) => fc.tuple(fc.constant(tokens), fc.shuffledSubarray(tokens, { minLength: tokens.length })))

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><circle r="30" fill="#369"/></svg>'
const cmyk = gradient(60, 40).toColourspace('cmyk').withIccProfile('cmyk').jpeg()
const images: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['JPEG', await gradient(60, 40).jpeg().toBuffer()],
  ['turned JPEG', await gradient(40, 60).jpeg().withMetadata({ orientation: 6 }).toBuffer()],
  ['CMYK JPEG', await cmyk.toBuffer()],
  ['PNG of 16 bits', await gradient(60, 40).toColourspace('rgb16').png().toBuffer()],
  ['PNG with a palette', await gradient(60, 40).png({ palette: true }).toBuffer()],
  ['PNG with alpha', await gradient(60, 40).ensureAlpha(0.5).png().toBuffer()],
  ['gray PNG', await gradient(60, 40).toColourspace('b-w').png().toBuffer()],
  ['one pixel', await gradient(1, 1).png().toBuffer()],
  ['line', await gradient(300, 1).png().toBuffer()],
  ['animated GIF', await (await animation(60, 40, ['#f00', '#0f0', '#00f'])).gif().toBuffer()],
  ['animated WebP', await (await animation(60, 40, ['#f00', '#0f0', '#00f'])).webp().toBuffer()],
  ['AVIF', await gradient(60, 40).avif().toBuffer()],
  ['TIFF', await gradient(60, 40).tiff().toBuffer()],
  ['SVG', Buffer.from(svg)],
]

/** A scale as a fraction, as floats would put some exact halves below a half. */
type Fraction = readonly [to: number, from: number]
const smallest = (...scales: readonly Fraction[]): Fraction =>
  scales.reduce((a, b) => (b[0] * a[1] < a[0] * b[1] ? b : a))
/** Halves round up. */
const scaled = (side: number, [to, from]: Fraction): number =>
  Math.max(1, Math.floor((2 * side * to + from) / (2 * from)))

/** What the contract promises of a photograph of 60 × 40 for sizes alone, worked out apart from the service's own code. */
function promised(w: number, h: number, fit: string, up: boolean): readonly [number, number] {
  switch (fit) {
    case 'fit': {
      const box = smallest([w, 60], [h, 40])
      const scale = up ? box : smallest(box, [1, 1])
      return [scaled(60, scale), scaled(40, scale)]
    }
    case 'fill': {
      const scale = up ? ([1, 1] as const) : smallest([1, 1], [60, w], [40, h])
      return [scaled(w, scale), scaled(h, scale)]
    }
    case 'pad':
      return [w, h]
    case 'crop': {
      const scale = smallest([1, 1], [60, w], [40, h])
      return [scaled(w, scale), scaled(h, scale)]
    }
    default:
      return up ? [w, h] : [Math.min(w, 60), Math.min(h, 40)]
  }
}

// Each is rendered again, so that equal bytes come from equal plans and not from a cache.
const { client } = await startImages({ flags: { 'derivative-cache': '0', 'memory-cache': '0' } })
for (const [, bytes] of images) assert.equal((await client.upload(bytes)).status, 200)

for (const [name, bytes] of images) {
  test(`${name}: any modifier is applied or rejected by name, in any order`, () =>
    fc.assert(
      fc.asyncProperty(modifier, async ([tokens, shuffled]) => {
        const link = `${expectedHash(bytes)}&m=`
        const first = await client.link(link + tokens.join(','))
        const other = await client.link(link + shuffled.join(','))
        assert.equal(other.status, first.status)
        assert.ok(first.status === 200 || first.status === 400, `${first.status}: ${tokens.join(',')}`)
        if (first.status === 400) {
          const { body } = await answerOf(first)
          // The part that `rect_` cuts out may be outside of a small image.
          assert.match(String(body['msg']), /^El modificador (dpr_4|rect_[\d_]+) no es válido/)
          return other.body?.cancel()
        }
        assert.equal(other.headers.get('etag'), first.headers.get('etag'))
        const made = await bytesOf(first)
        assert.ok((await bytesOf(other)).equals(made))
        // The original of an SVG may come, where nothing else was asked for.
        const { width, height, pageHeight } = await sharp(made).metadata()
        assert.ok(width >= 1 && (pageHeight ?? height) >= 1)
        assert.ok(width <= 8_192 && (pageHeight ?? height) <= 8_192)
      }),
      { numRuns: 3 },
    ))
}

test('sizes are exact', () =>
  fc.assert(
    fc.asyncProperty(
      side,
      side,
      word('fit', 'fill', 'pad', 'crop', 'scale'),
      fc.boolean(),
      async (w, h, fit, up) => {
        const [, photo] = images[0] ?? []
        assert.ok(photo !== undefined)
        const link = `${expectedHash(photo)}&m=w_${w},h_${h},c_${fit}${up ? ',up' : ''}`
        const { width, height } = await sharp(await bytesOf(await client.link(link))).metadata()
        assert.deepEqual([width, height], promised(w, h, fit, up), link)
      },
    ),
    { numRuns: propertyRuns(40) },
  ))

test('no text causes a server error', () =>
  fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: anyCharacter, maxLength: 60 }),
        fc
          .array(
            word('w_', '9', ',', '_', '.', 'webp', 'sig_', 'exp_', 'p_', 'g_xy_', 'x', '%', '&m=', '?'),
            { maxLength: 12 },
          )
          .map((parts) => parts.join('')),
      ),
      async (text) => {
        const [, photo] = images[0] ?? []
        assert.ok(photo !== undefined)
        const response = await client.link(`${expectedHash(photo)}&m=${encodeURIComponent(text)}`)
        await response.body?.cancel()
        assert.ok(response.status < 500, `${response.status}: ${text}`)
      },
    ),
    { numRuns: propertyRuns(100) },
  ))
