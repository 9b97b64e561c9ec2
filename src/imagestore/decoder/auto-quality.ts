import sharp, { type Sharp } from 'sharp'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'
import { ssimulacra2 } from './score.ts'

/** The SSIMULACRA2 score that `q_auto` aims at: that of JPEG 80 in the mean of photographs. */
export const TARGET_SCORE = 78
/** Pixels that are encoded to find the quality. */
const SAMPLE_PIXELS = 700_000
/** Rows of a band: the blocks of all formats divide it. */
const BAND_ROWS = 64
const [MIN_QUALITY, MAX_QUALITY] = [30, 95]
/** Points of the score for a step of quality, near the target: of photographs, in each format. */
const SLOPE = 0.7
/** Encodings that are scored. */
const PROBES = 3
/** Points from the target that are not worth another one. */
const TOLERANCE = 0.5

/**
 * Finds the quality at which a picture gets the target score, from a sample of bands of it.
 * @param start the first quality that is tried
 * @param write encodes a picture with a quality
 */
export async function findQuality(
  open: () => Sharp,
  start: number,
  write: (image: Sharp, quality: number) => Promise<Buffer>,
): Promise<number> {
  const sample = sampleOf(await readColours(open()))
  const { width, height, channels } = sample
  const reopen = () => sharp(sample.data, { raw: { width, height, channels } })
  let quality = start
  let best = { quality: start, distance: Infinity }
  let last: { readonly quality: number; readonly score: number } | undefined
  for (let probe = 0; probe < PROBES; probe++) {
    const score = ssimulacra2(sample, await readColours(sharp(await write(reopen(), quality))))
    const distance = Math.abs(score - TARGET_SCORE)
    if (distance < best.distance) best = { quality, distance }
    if (distance < TOLERANCE) break
    const slope = last === undefined ? SLOPE : (score - last.score) / (quality - last.quality)
    last = { quality, score }
    const step = (TARGET_SCORE - score) / Math.max(SLOPE / 3, slope)
    const next = Math.min(MAX_QUALITY, Math.max(MIN_QUALITY, Math.round(quality + step)))
    if (next === quality) break
    quality = next
  }
  return best.quality
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
function sampleOf(pixels: Pixels): Pixels {
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
