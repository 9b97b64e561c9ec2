import type { Pixels } from '../../lib/perceptual-hash/index.ts'

/**
 * The weights of SSIMULACRA2 (Jon Sneyers, Cloudinary, 2023, BSD-3-Clause) that are not negligible, by channel and by scale from
 * 1:1 to 1:16. Those of a scale belong to the mean and then to the 4-norm, each of structure, ringing and blur.
 */
const WEIGHTS: Readonly<Record<'x' | 'y' | 'b', readonly (readonly number[])[]>> = {
  x: [[], [0, 0, 0, 1.104], [0, 0, 0, 1.842, 11.441], [0, 0, 0, 1.879, 10.949], [0, 0.968, 0, 0, 0.998]],
  y: [
    [0, 0, 0, 7.467, 0, 17.446],
    [0, 0, 0, 6.684, 0, 1.028],
    [225.205, 0, 0, 19.213],
    [176.393, 0, 0, 24.433, 0.285],
    [0, 0, 0, 34.779, 44.836],
  ],
  b: [[], [], [], [0, 0, 0, 8.827, 23.192], [95.108, 0.986, 0.983, 0, 171.267, 0.981]],
}
const SCALES = 5
const MIN_SIDE = 8
/** Half of the mask of a Gaussian with a standard deviation of 1.5, which sums to 1. */
const MASK = [0.26601172, 0.21300554, 0.10936069, 0.03600077, 0.00759876, 0.00102838]
const RADIUS = MASK.length - 1
/** Keeps the quotient of structure finite. */
const C2 = 0.0009
/** Bias of the opsin absorbance of JPEG XL. */
const BIAS = 0.0037930733
const BIAS_ROOT = Math.cbrt(BIAS)

/** One channel of a picture, or of one of its scales. */
interface Plane {
  readonly data: Float32Array
  readonly width: number
  readonly height: number
}

const LINEAR = Float32Array.from({ length: 256 }, (_, sample) => {
  const value = sample / 255
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
})

/**
 * SSIMULACRA2 of a copy: 100 if it equals the original, about 90 if nobody sees a difference, 70 for high and 50 for medium
 * quality. Within 0.01 of the reference implementation.
 * @param original of three channels, as `copy` is
 */
export const ssimulacra2 = (original: Pixels, copy: Pixels): number =>
  toScore(weightedErrors(linearPlanes(original), linearPlanes(copy), 0, SCALES))

/** Scales that are seen in a part of a picture as well as in all of it, and take most of the time. */
const FINE_SCALES = 2

/**
 * Estimates the score of a large copy: fine scales from a part, coarse ones from all of it, because every edge of the part would count
 * at these.
 * @param part returns the same part of each of the two
 */
export function estimateScore(original: Pixels, copy: Pixels, part: (pixels: Pixels) => Pixels): number {
  const fine = weightedErrors(linearPlanes(part(original)), linearPlanes(part(copy)), 0, FINE_SCALES)
  const coarse = weightedErrors(halvedPlanes(original), halvedPlanes(copy), FINE_SCALES, SCALES, 1)
  return toScore(fine + coarse)
}

/** The errors of scales `from` to `to`. @param scale that of the planes */
function weightedErrors(original: Planes, copy: Planes, from: number, to: number, scale = 0): number {
  let [one, other] = [original, copy]
  let sum = 0
  for (let at = scale; at < to; at++) {
    const [{ width, height }] = one
    if (width < MIN_SIDE || height < MIN_SIDE) break
    if (at > scale) [one, other] = [mapPlanes(one, halve), mapPlanes(other, halve)]
    if (at < from) continue
    const [a, b] = [toXyb(one), toXyb(other)]
    for (const channel of ['x', 'y', 'b'] as const) {
      const weights = WEIGHTS[channel][at] ?? []
      if (weights.length === 0) continue
      const errors = errorsOf(a[channel], b[channel])
      weights.forEach((weight, i) => (sum += weight * (errors[i] ?? 0)))
    }
  }
  return sum
}

function toScore(sum: number): number {
  const error = sum * 0.9562382616834844
  const shaped =
    2.326765642916932 * error - 0.020884521182843837 * error ** 2 + 6.248496625763138e-5 * error ** 3
  return shaped > 0 ? 100 - 10 * shaped ** 0.6276336467831387 : 100
}

type Planes = readonly [Plane, Plane, Plane]
const mapPlanes = ([r, g, b]: Planes, map: (plane: Plane) => Plane): Planes => [map(r), map(g), map(b)]

function linearPlanes({ data, width, height }: Pixels): Planes {
  const plane = (channel: number): Plane => {
    const linear = new Float32Array(width * height)
    for (let i = 0; i < linear.length; i++) linear[i] = LINEAR[data[i * 3 + channel] ?? 0] ?? 0
    return { data: linear, width, height }
  }
  return [plane(0), plane(1), plane(2)]
}

/** The same at half the size, without the memory of the whole. */
function halvedPlanes({ data, width, height }: Pixels): Planes {
  const [columns, rows] = [Math.ceil(width / 2), Math.ceil(height / 2)]
  const plane = (channel: number): Plane => {
    const half = new Float32Array(columns * rows)
    const sample = (x: number, y: number) =>
      LINEAR[data[(Math.min(y, height - 1) * width + Math.min(x, width - 1)) * 3 + channel] ?? 0] ?? 0
    for (let y = 0, i = 0; y < height; y += 2)
      for (let x = 0; x < width; x += 2)
        half[i++] = (sample(x, y) + sample(x + 1, y) + sample(x, y + 1) + sample(x + 1, y + 1)) / 4
    return { data: half, width: columns, height: rows }
  }
  return [plane(0), plane(1), plane(2)]
}

function halve({ data, width, height }: Plane): Plane {
  const [columns, rows] = [Math.ceil(width / 2), Math.ceil(height / 2)]
  const half = new Float32Array(columns * rows)
  for (let y = 0; y < rows; y++) {
    const upper = 2 * y * width
    const lower = Math.min(2 * y + 1, height - 1) * width
    for (let x = 0; x < columns; x++) {
      const [left, right] = [2 * x, Math.min(2 * x + 1, width - 1)]
      const top = (data[upper + left] ?? 0) + (data[upper + right] ?? 0)
      half[y * columns + x] = (top + (data[lower + left] ?? 0) + (data[lower + right] ?? 0)) / 4
    }
  }
  return { data: half, width: columns, height: rows }
}

/** XYB, moved and scaled to between 0 and 1. */
function toXyb([red, green, blue]: Planes): Record<'x' | 'y' | 'b', Plane> {
  const { width, height } = red
  const [x, y, b] = [0, 1, 2].map(() => new Float32Array(width * height))
  if (x === undefined || y === undefined || b === undefined) throw new Error('three planes')
  for (let i = 0; i < x.length; i++) {
    const [r, g, l] = [red.data[i] ?? 0, green.data[i] ?? 0, blue.data[i] ?? 0]
    const long = Math.cbrt(0.3 * r + 0.622 * g + 0.078 * l + BIAS) - BIAS_ROOT
    const medium = Math.cbrt(0.23 * r + 0.692 * g + 0.078 * l + BIAS) - BIAS_ROOT
    const short = Math.cbrt(0.24342269 * r + 0.20476744 * g + 0.55180987 * l + BIAS) - BIAS_ROOT
    const luma = (long + medium) / 2
    x[i] = (long - medium) * 7 + 0.42
    y[i] = luma + 0.01
    b[i] = short - luma + 0.55
  }
  const plane = (data: Float32Array): Plane => ({ data, width, height })
  return { x: plane(x), y: plane(y), b: plane(b) }
}

/** Mean of structure, ringing and blur, then the 4-norm of each. */
function errorsOf(one: Plane, other: Plane): readonly number[] {
  const [a, b] = [one.data, other.data]
  const [meanA, meanB] = [blur(one).data, blur(other).data]
  const [squareA, squareB] = [blur(product(one, one)).data, blur(product(other, other)).data]
  const both = blur(product(one, other)).data
  const sums = [0, 0, 0, 0, 0, 0]
  const add = (map: number, error: number) => {
    const square = error * error
    sums[map] = (sums[map] ?? 0) + error
    sums[map + 3] = (sums[map + 3] ?? 0) + square * square
  }
  for (let i = 0; i < a.length; i++) {
    const [ma, mb] = [meanA[i] ?? 0, meanB[i] ?? 0]
    const covariance = 2 * ((both[i] ?? 0) - ma * mb) + C2
    const variances = (squareA[i] ?? 0) - ma * ma + (squareB[i] ?? 0) - mb * mb + C2
    add(0, Math.max(0, 1 - ((1 - (ma - mb) ** 2) * covariance) / variances))
    const edge = (1 + Math.abs((b[i] ?? 0) - mb)) / (1 + Math.abs((a[i] ?? 0) - ma)) - 1
    add(edge > 0 ? 1 : 2, Math.abs(edge))
  }
  return sums.map((sum, i) => (i < 3 ? sum / a.length : (sum / a.length) ** 0.25))
}

function product(one: Plane, other: Plane): Plane {
  const data = new Float32Array(one.data.length)
  for (let i = 0; i < data.length; i++) data[i] = (one.data[i] ?? 0) * (other.data[i] ?? 0)
  return { ...one, data }
}

/** What lies outside counts as 0. */
function blur({ data, width, height }: Plane): Plane {
  const across = new Float32Array(data.length)
  const blurred = new Float32Array(data.length)
  for (let y = 0; y < height; y++) {
    const row = y * width
    for (let k = -RADIUS; k <= RADIUS; k++)
      addScaled(
        data,
        row + Math.max(0, k),
        across,
        row + Math.max(0, -k),
        width - Math.abs(k),
        MASK[Math.abs(k)] ?? 0,
      )
  }
  for (let y = 0; y < height; y++) {
    for (let k = Math.max(-RADIUS, -y); k <= Math.min(RADIUS, height - 1 - y); k++)
      addScaled(across, (y + k) * width, blurred, y * width, width, MASK[Math.abs(k)] ?? 0)
  }
  return { data: blurred, width, height }
}

function addScaled(
  from: Float32Array,
  fromAt: number,
  to: Float32Array,
  toAt: number,
  count: number,
  factor: number,
): void {
  for (let i = 0; i < count; i++) to[toAt + i] = (to[toAt + i] ?? 0) + (from[fromAt + i] ?? 0) * factor
}
