import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dhash, lanczosTaps, type Pixels } from './dhash.ts'

/** The same hash in simple steps: luma of the whole image, then both passes with 64-bit sums. */
function reference({ data, width, height, channels }: Pixels): string {
  const at = (i: number): number => data[i] ?? 0
  const luma = Array.from({ length: width * height }, (_, i) => {
    const p = i * channels
    if (channels < 3) return at(p)
    return Math.floor((at(p) * 19595 + at(p + 1) * 38470 + at(p + 2) * 7471 + 0x8000) / 65536)
  })
  const resize = (from: number[], width: number, height: number, to: number): number[] => {
    const taps = lanczosTaps(width, to)
    return Array.from({ length: height }, (_, y) =>
      taps.map(({ first, weights }) => {
        let sum = 2 ** 21
        for (const [i, weight] of weights.entries()) sum += weight * (from[y * width + first + i] ?? 0)
        return Math.max(0, Math.min(255, Math.floor(sum / 2 ** 22)))
      }),
    ).flat()
  }
  const turn = (from: number[], width: number, height: number): number[] =>
    Array.from({ length: width * height }, (_, i) => from[(i % height) * width + Math.floor(i / height)] ?? 0)
  const narrow = resize(luma, width, height, 9)
  const small = turn(resize(turn(narrow, 9, height), height, 9, 8), 8, 9)
  const bits = small.flatMap((v, i) => (i % 9 === 0 ? [] : [v > (small[i - 1] ?? 0) ? '1' : '0']))
  return BigInt(`0b${bits.join('')}`)
    .toString(16)
    .padStart(16, '0')
}

const channels = fc.constantFrom(1, 2, 3, 4) satisfies fc.Arbitrary<Pixels['channels']>
const side = fc.oneof(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 25, max: 300 }))

function noise(width: number, height: number, channels: Pixels['channels'], seed: number): Pixels {
  const data = new Uint8Array(width * height * channels)
  let state = seed | 1
  for (let i = 0; i < data.length; i++) {
    state = Math.imul(state, 1664525) + 1013904223
    // Slow waves below the noise, so that neighbouring cells of the 9×8 grid differ by more than rounding.
    data[i] = ((state >>> 24) + 128 * Math.sin(i / (7 + (seed % 5000)))) & 255
  }
  return { data, width, height, channels }
}

test('equals the simple reference on random sizes and pixels', () => {
  fc.assert(
    fc.property(side, side, channels, fc.nat(), (width, height, channels, seed) => {
      const pixels = noise(width, height, channels, seed)
      assert.equal(dhash(pixels), reference(pixels))
    }),
    { numRuns: 200 },
  )
})

test('equals the simple reference on long, wide and large images', () => {
  const shapes = [
    [1, 1],
    [1, 5000],
    [5000, 1],
    [20_000, 3],
    [3, 20_000],
    [1367, 90],
    [2800, 70],
    [700, 900],
    [9, 8],
    [10, 7],
  ] as const
  for (const [width, height] of shapes) {
    const pixels = noise(width, height, 3, width + height)
    assert.equal(dhash(pixels), reference(pixels), `${width}x${height}`)
  }
})

test('black and white extremes do not overflow', () => {
  for (const width of [2, 40, 1000, 4000]) {
    const data = new Uint8Array(width * 100 * 3)
    for (let i = 0; i < data.length; i++) data[i] = Math.floor(i / 3 / (width / 2)) % 2 ? 255 : 0
    const pixels = { data, width, height: 100, channels: 3 } as const
    assert.equal(dhash(pixels), reference(pixels))
  }
})
