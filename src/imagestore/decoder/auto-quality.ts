import sharp, { type Sharp } from 'sharp'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'
import { estimateScore, ssimulacra2 } from './score.ts'
import type { Size } from './stage.ts'

/** The SSIMULACRA2 score that `q_auto` aims at: that of JPEG 80 in the mean of photographs. */
export const TARGET_SCORE = 78
/** Larger pictures are encoded in part to find the quality: each encoding takes seconds. */
const MAX_PROBED_PIXELS = 8_000_000
/** Larger ones are scored in part at the fine scales. */
const SAMPLE_PIXELS = 400_000
/** Rows of a band of that part. */
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
  { width, height }: Size,
  write: (image: Sharp, quality: number) => Promise<Buffer>,
): Promise<Buffer> {
  const rows = Math.max(1, Math.floor(MAX_PROBED_PIXELS / width))
  const isWhole = rows >= height
  const strip = { left: 0, top: Math.floor((height - rows) / 2), width, height: rows }
  const reopen = isWhole ? open : () => open().extract(strip)
  const original = await readColours(reopen())
  let quality = start
  let best: { readonly quality: number; readonly distance: number; readonly bytes: Buffer } | undefined
  let last: { readonly quality: number; readonly score: number } | undefined
  for (let probe = 0; probe < PROBES; probe++) {
    const bytes = await write(reopen(), quality)
    const score = toScore(original, await readColours(sharp(bytes)))
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
  return isWhole && best !== undefined ? best.bytes : write(open(), best?.quality ?? start)
}

const toScore = (original: Pixels, copy: Pixels): number =>
  original.width * original.height > SAMPLE_PIXELS
    ? estimateScore(original, copy, toBands)
    : ssimulacra2(original, copy)

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
