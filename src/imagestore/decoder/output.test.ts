import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FITS, parseModifiers, type Transformation } from '../modifiers/index.ts'
import { geometryOf, type Geometry } from './output.ts'

function planOf(text: string): Transformation {
  const parsed = parseModifiers(text)
  assert.ok(parsed.ok)
  return parsed.transformation
}

const geometry = (text: string, width: number, height: number): Geometry =>
  geometryOf(planOf(text), { width, height })
const canvas = (text: string, width = 400, height = 200): string => {
  const size = geometry(text, width, height).canvas
  return `${size.width}x${size.height}`
}

test('sizes by mode', () => {
  const cases: Record<string, string> = {
    '': '400x200',
    w_100: '100x50',
    h_100: '200x100',
    '100x100': '100x50',
    'w_100,dpr_2': '200x100',
    w_800: '400x200',
    'w_800,up': '800x400',
    '100x100,c_fill': '100x100',
    '300x300,c_fill': '200x200',
    '300x300,c_fill,up': '300x300',
    '100x100,c_pad': '100x100',
    '900x900,c_pad': '900x900',
    '100x100,c_crop': '100x100',
    '900x100,c_crop': '400x44',
    'w_900,c_crop': '400x200',
    'w_100,c_crop': '100x200',
    'w_8192,ar_1:2,c_pad': '4096x8192',
    'w_8192,ar_1:2,c_fill,up': '4096x8192',
    'w_8192,ar_1:4,c_scale,up': '2048x8192',
    'w_8192,ar_1:2,c_fit,up': '8192x4096',
    '30x90,c_scale': '30x90',
    '30x900,c_scale': '30x200',
    '30x900,c_scale,up': '30x900',
    'ar_1:1,c_fill': '200x200',
    'w_100,ar_1:1,c_fill': '100x100',
    'h_50,ar_2:1,c_fill': '100x50',
  }
  for (const [text, want] of Object.entries(cases)) assert.equal(canvas(text), want, text)
  assert.equal(canvas('', 20_000, 100), '8192x41')
  assert.equal(canvas('w_8000,up', 10, 1000), '82x8192')
})

test('half pixels are rounded up for any image', () => {
  assert.equal(canvas('w_159,dpr_1.5', 1834, 1170), '239x152')
  assert.equal(canvas('h_500,dpr_1.333', 1060, 817), '865x667')
  assert.equal(canvas('w_470,ar_4:7,c_pad', 400, 200), '470x823')
  assert.equal(canvas('468x1222,c_fill', 135, 1453), '135x353')
  const side = fc.integer({ min: 1, max: 2000 })
  fc.assert(
    fc.property(side, side, side, fc.integer({ min: 1000, max: 4000 }), (width, height, asked, dpr) => {
      const quotient = (a: bigint, b: bigint) => Math.max(1, Number((2n * a + b) / (2n * b)))
      const thousandths = BigInt(Math.min(width * 1000, asked * dpr))
      const want = [
        quotient(thousandths, 1000n),
        quotient(thousandths * BigInt(height), 1000n * BigInt(width)),
      ]
      fc.pre(Math.max(...want) <= 8192 && asked * dpr <= 8_192_000)
      assert.equal(canvas(`w_${asked},dpr_${dpr / 1000}`, width, height), want.join('x'))
    }),
    { numRuns: 2_000 },
  )
})

test('fill, pad and crop keep the aspect ratio of the box for any limit and image', () => {
  const side = fc.integer({ min: 1, max: 30_000 })
  const wanted = fc.integer({ min: 1, max: 8192 })
  const sizes = fc.oneof(
    fc.tuple(wanted, wanted).map(([w, h]) => ({ text: `w_${w},h_${h}`, w, h })),
    fc
      .tuple(
        wanted,
        fc.constantFrom('w', 'h'),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 100 }),
      )
      .map(([pixels, key, across, down]) => ({
        text: `${key}_${pixels},ar_${across}:${down}`,
        w: across,
        h: down,
      })),
  )
  const dpr = fc.constantFrom(1, 1.125, 2, 4)
  const fit = fc.constantFrom('c_fill', 'c_pad', 'c_crop')
  const check = ([{ text, w, h }, mode, ratio, up, width, height]: readonly [
    { text: string; w: number; h: number },
    string,
    number,
    boolean,
    number,
    number,
  ]) => {
    const parsed = parseModifiers(`${text},${mode},dpr_${ratio}${up ? ',up' : ''}`)
    fc.pre(parsed.ok)
    const { canvas } = geometryOf(parsed.transformation, { width, height })
    assert.ok(Math.max(canvas.width, canvas.height) <= 8192)
    // Some scale gives both sides, each to half a pixel; none is less than a pixel.
    const scales = (made: number, of: number) =>
      [made === 1 ? 0 : (made - 0.5) / of, (made + 0.5) / of] as const
    const [low, high] = scales(canvas.width, w)
    const [bottom, top] = scales(canvas.height, h)
    const slack = 1 + 1e-9
    assert.ok(low <= top * slack && bottom <= high * slack, `${text},${mode}: ${JSON.stringify(canvas)}`)
  }
  fc.assert(
    fc.property(fc.tuple(sizes, fit, dpr, fc.boolean(), side, side), (values) => check(values)),
    { numRuns: 3_000 },
  )
})

test('no size exceeds the limit, nothing is enlarged unless requested, every crop is inside', () => {
  const side = fc.integer({ min: 1, max: 30_000 })
  const wanted = fc.option(fc.integer({ min: 1, max: 8192 }), { nil: null })
  const plans = fc.record({
    width: wanted,
    height: wanted,
    ratio: fc.constantFrom(null, [16, 9], [1, 100], [100, 1]) satisfies fc.Arbitrary<Transformation['ratio']>,
    dpr: fc.constant(1),
    enlarge: fc.boolean(),
    fit: fc.constantFrom(...FITS),
    gravity: fc.constantFrom(
      { kind: 'compass', point: 'se' },
      { kind: 'point', x: 1, y: 0 },
    ) satisfies fc.Arbitrary<Transformation['gravity']>,
  })
  fc.assert(
    fc.property(plans, side, side, (plan, width, height) => {
      const { scaled, crop, canvas } = geometryOf(plan, { width, height })
      for (const value of [canvas.width, canvas.height]) assert.ok(value >= 1 && value <= 8192)
      assert.ok(Math.max(scaled.width, scaled.height) <= Math.max(2 * 8192, width, height))
      if (!plan.enlarge) assert.ok(scaled.width <= width + 1 && scaled.height <= height + 1)
      if (crop === undefined) return
      assert.ok(crop.left >= 0 && crop.left + crop.width <= scaled.width)
      assert.ok(crop.top >= 0 && crop.top + crop.height <= scaled.height)
    }),
    { numRuns: 1000 },
  )
})
