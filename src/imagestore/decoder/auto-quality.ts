import sharp, { type Sharp } from 'sharp'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'
import type { Size } from './stage.ts'

/** The SSIMULACRA2 score that `q_auto` aims at: that of JPEG 80 in the mean of photographs. */
export const TARGET_SCORE = 78
/** Larger pictures are encoded in part to find the quality: each encoding takes seconds. */
const MAX_PROBED_PIXELS = 8_000_000
/** Larger ones are scored in part at the fine scales. */
const SAMPLE_PIXELS = 400_000
const BAND_ROWS = 64
const [MIN_QUALITY, MAX_QUALITY] = [30, 95]
/** Points of the score for a step of quality, near the target: of photographs, in each format. */
const SLOPE = 0.7
/** Encodings that are scored. */
const PROBES = 4
/** Points from the target that are not worth another one. */
const TOLERANCE = 0.5

/**
 * Encodes a picture with the quality at which it gets the target score. What is scored is encoded whole, because encoders choose
 * differently for other pictures, be they parts of this one.
 * @param start the first quality that is tried
 * @param write encodes a picture with a quality
 */
export async function encodeToTarget(
  open: () => Sharp,
  start: number,
  size: Size,
  write: (image: Sharp, quality: number) => Promise<Buffer>,
): Promise<Buffer> {
  const reopen = toSample(open, size, MAX_PROBED_PIXELS)
  const original = await readColours(reopen())
  let quality = start
  let best: { readonly quality: number; readonly distance: number; readonly bytes: Buffer } | undefined
  let last: { readonly quality: number; readonly score: number } | undefined
  for (let probe = 0; probe < PROBES; probe++) {
    const bytes = await write(reopen(), quality)
    const score = estimateScore(original, await readColours(sharp(bytes)))
    const distance = Math.abs(score - TARGET_SCORE)
    if (best === undefined || distance < best.distance) best = { quality, distance, bytes }
    if (distance < TOLERANCE) break
    const slope = last === undefined ? SLOPE : (score - last.score) / (quality - last.quality)
    last = { quality, score }
    const step = (TARGET_SCORE - score) / Math.max(SLOPE / 3, slope)
    const next = Math.min(MAX_QUALITY, Math.max(MIN_QUALITY, Math.round(quality + step)))
    if (next === quality) break
    quality = next
  }
  return reopen === open && best !== undefined ? best.bytes : write(open(), best?.quality ?? start)
}

/** A strip from the middle of a picture, by which encodings are compared; all of a smaller one. */
export function toSample(open: () => Sharp, { width, height }: Size, maxPixels: number): () => Sharp {
  const rows = Math.max(1, Math.floor(maxPixels / width))
  if (rows >= height) return open
  const strip = { left: 0, top: Math.floor((height - rows) / 2), width, height: rows }
  return () => open().extract(strip)
}

/** Three channels of what is seen on gray. */
async function readColours(image: Sharp): Promise<Pixels> {
  const { data, info } = await image
    .flatten({ background: '#808080' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true })
  return asPixels(data, info.width, info.height, info.channels)
}

/** Bands from top to bottom, joined. */
function toBands(pixels: Pixels): Pixels {
  const { data, width, height, channels } = pixels
  const bands = Math.max(1, Math.floor(SAMPLE_PIXELS / (width * BAND_ROWS)))
  if (bands * BAND_ROWS >= height) return pixels
  const rowBytes = width * channels
  const joined = Array.from({ length: bands }, (_, band) => {
    const top = Math.floor(((band + 0.5) * height) / bands - BAND_ROWS / 2)
    return data.subarray(top * rowBytes, (top + BAND_ROWS) * rowBytes)
  })
  return { ...pixels, data: Buffer.concat(joined), height: bands * BAND_ROWS }
}

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
const BIAS = 0.0037930733
const BIAS_ROOT = Math.cbrt(BIAS)

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

/** The score of a large copy: fine scales from a part, coarse ones from all of it, because every edge of the part would count at these. */
function estimateScore(original: Pixels, copy: Pixels): number {
  if (original.width * original.height <= SAMPLE_PIXELS) return ssimulacra2(original, copy)
  const fine = weightedErrors(linearPlanes(toBands(original)), linearPlanes(toBands(copy)), 0, FINE_SCALES)
  // Halved one by one: all channels at full size would not fit.
  const [halves, others] = [linearPlanes(original, halve), linearPlanes(copy, halve)]
  return toScore(fine + weightedErrors(halves, others, FINE_SCALES, SCALES, 1))
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

function linearPlanes(
  { data, width, height }: Pixels,
  change: (plane: Plane) => Plane = (plane) => plane,
): Planes {
  const plane = (channel: number): Plane => {
    const linear = new Float32Array(width * height)
    for (let i = 0; i < linear.length; i++) linear[i] = LINEAR[data[i * 3 + channel] ?? 0] ?? 0
    return change({ data: linear, width, height })
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
  const plane = (): Plane => ({ ...red, data: new Float32Array(red.data.length) })
  const [x, y, b] = [plane(), plane(), plane()]
  for (let i = 0; i < red.data.length; i++) {
    const [r, g, l] = [red.data[i] ?? 0, green.data[i] ?? 0, blue.data[i] ?? 0]
    const long = Math.cbrt(0.3 * r + 0.622 * g + 0.078 * l + BIAS) - BIAS_ROOT
    const medium = Math.cbrt(0.23 * r + 0.692 * g + 0.078 * l + BIAS) - BIAS_ROOT
    const short = Math.cbrt(0.24342269 * r + 0.20476744 * g + 0.55180987 * l + BIAS) - BIAS_ROOT
    const luma = (long + medium) / 2
    x.data[i] = (long - medium) * 7 + 0.42
    y.data[i] = luma + 0.01
    b.data[i] = short - luma + 0.55
  }
  return { x, y, b }
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
    for (let k = -RADIUS; k <= RADIUS; k++) {
      const [from, to] = [y * width + Math.max(0, k), y * width + Math.max(0, -k)]
      addScaled(data, from, across, to, width - Math.abs(k), MASK[Math.abs(k)] ?? 0)
    }
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
