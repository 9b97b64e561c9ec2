import { mimeOf, pagesAfterFirst } from '../../lib/image-metadata/index.ts'
import {
  asPixels,
  clipGray,
  cmykToRgb,
  dhash,
  highBytes,
  type Pixels,
} from '../../lib/perceptual-hash/index.ts'
import { releaseBuffer } from '../../lib/bytes.ts'
import { toColor } from '../image-fields.ts'
import { firstFrameLuma } from './gif.ts'
import type { InspectedImage } from './decoder-process.ts'
import { openSharp, RejectedImage, type Source } from './source.ts'
import { rgbaToThumbHash } from 'thumbhash'

/** Limit of the format, in pixels per side. */
const MAX_SIDE = 100
/** Larger images are reduced to this: the hash keeps waves of a seventh of a side at most, and 100 pixels take four times as long. */
const REDUCED_SIDE = 48
/** Samples per side of a cell: more would not change the hash, and would cost as much as decoding. */
const SAMPLES = 4

/**
 * The ThumbHash of a picture in base64. Pictures above the format's size limit are averaged over cells first.
 * @param hasAlpha whether a fourth (or second) channel is alpha
 */
function thumbhash(pixels: Pixels, hasAlpha = true): string {
  const { width, height } = pixels
  const longest = Math.max(width, height)
  const scale = longest > MAX_SIDE ? REDUCED_SIDE / longest : 1
  const columns = Math.max(1, Math.round(width * scale))
  const rows = Math.max(1, Math.round(height * scale))
  const rgba = new Uint8Array(columns * rows * 4)
  const xs = samplePositions(width, columns)
  const ys = samplePositions(height, rows)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const cell = rgba.subarray((row * columns + column) * 4)
      writeMean(pixels, hasAlpha, xs[column] ?? [], ys[row] ?? [], cell)
    }
  }
  return Buffer.from(rgbaToThumbHash(columns, rows, rgba)).toString('base64')
}

/** Samples per side for the mean colour, which is of all pixels of smaller pictures: more would take longer than decoding. */
const COLOR_SAMPLES = 1_000

/** The mean colour of a picture; null if nothing of it is visible. */
function meanColor(pixels: Pixels, hasAlpha: boolean): string | null {
  const [xs = []] = samplePositions(pixels.width, 1, COLOR_SAMPLES)
  const [ys = []] = samplePositions(pixels.height, 1, COLOR_SAMPLES)
  const mean = new Uint8Array(4)
  writeMean(pixels, hasAlpha, xs, ys, mean)
  const [red = 0, green = 0, blue = 0, alpha = 0] = mean
  return alpha === 0 ? null : toColor(red, green, blue)
}

/** The positions of the samples in each of `count` cells along a side. @param most samples in a cell */
function samplePositions(size: number, count: number, most = SAMPLES): number[][] {
  const step = size / count
  const samples = Math.min(most, Math.max(1, Math.round(step)))
  return Array.from({ length: count }, (_, cell) =>
    Array.from({ length: samples }, (_, i) =>
      Math.min(size - 1, Math.floor((cell + (i + 0.5) / samples) * step)),
    ),
  )
}

/** Writes the mean of the samples to `target`, weighted by alpha: what is invisible has no colour. */
function writeMean(
  { data, width, channels }: Pixels,
  hasAlpha: boolean,
  xs: readonly number[],
  ys: readonly number[],
  target: Uint8Array,
): void {
  let [red, green, blue, alpha] = [0, 0, 0, 0]
  const isGray = channels < 3
  const alphaAt = hasAlpha && channels % 2 === 0 ? channels - 1 : undefined
  for (const y of ys) {
    for (const x of xs) {
      const from = (y * width + x) * channels
      const weight = alphaAt === undefined ? 255 : (data[from + alphaAt] ?? 0)
      const first = (data[from] ?? 0) * weight
      red += first
      green += isGray ? first : (data[from + 1] ?? 0) * weight
      blue += isGray ? first : (data[from + 2] ?? 0) * weight
      alpha += weight
    }
  }
  if (alpha === 0) return
  target.set([red / alpha, green / alpha, blue / alpha, alpha / (xs.length * ys.length)].map(Math.round))
}

/** Decodes every pixel of every frame once and hashes the first frame. Rejects if the image does not decode. */
export async function inspectSource(source: Source): Promise<InspectedImage> {
  const { format, width, height, frames } = source
  const hashes = await decodeAndHash(source)
  if (format === 'tiff') await decodeOtherPages(source)
  return { kind: 'image', format, mime: mimeOf[format], width, height, frames, ...hashes }
}

/** Decodes animations as one tall image, so that one pass decodes all frames; the top of it is hashed. */
async function decodeAndHash({ bytes, format, structure, metadata, frames, maxPixels }: Source) {
  const isAnimated = frames > 1 && (format === 'gif' || format === 'webp')
  // Without colour profiles: the hash is of the samples as stored.
  const image = openSharp(bytes, maxPixels, { ignoreIcc: true, ...(isAnimated ? { pages: -1 } : {}) })
  if (!isAnimated) image.autoOrient()
  const isClipped =
    structure.clipsGray || (format === 'tiff' && metadata.space === 'grey16' && !metadata.hasAlpha)
  const isCmyk = metadata.space === 'cmyk'
  // libvips itself reduces other 16-bit samples to their high bytes; CMYK it would clip.
  const isDeep = isClipped || (isCmyk && metadata.depth === 'ushort')
  if (isClipped) image.pipelineColourspace('grey16').toColourspace('grey16')
  if (isCmyk) image.pipelineColourspace('cmyk').toColourspace('cmyk')
  const { data, info } = await image
    .raw({ depth: isDeep ? 'ushort' : 'uchar' })
    .toBuffer({ resolveWithObject: true })
  const { width, channels } = info
  const height = isAnimated ? (info.pageHeight ?? info.height / frames) : info.height
  const deep = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length >> 1) : undefined
  const samples = deep === undefined ? data : highBytes(deep)
  if (isCmyk) cmykToRgb(samples)
  const visible = asPixels(samples, width, height, channels)
  const clipped =
    deep !== undefined && isClipped ? asPixels(clipGray(deep), width, height, channels) : visible
  const stored = format === 'gif' ? await firstFrameLuma(bytes, maxPixels) : undefined
  const hashes = {
    dhash: dhash(stored ?? clipped),
    thumbhash: thumbhash(visible, !isCmyk),
    color: meanColor(visible, !isCmyk),
  }
  releaseBuffer(data)
  return hashes
}

/**
 * Decodes all pages of a TIFF but the first; all of them count towards the pixel limit. Pages of one size are decoded
 * together, others one by one, which takes ten times as long and leaves only the last page in the bytes of `source`.
 */
async function decodeOtherPages(source: Source): Promise<void> {
  const { bytes, frames, maxPixels } = source
  if (frames === 1) return
  const rest = openSharp(bytes, maxPixels, { page: 1, pages: frames - 1 })
  const isUniform = await rest.metadata().then(
    () => true,
    () => false,
  )
  if (isUniform) {
    releaseBuffer(await rest.raw().toBuffer())
    return
  }
  let left = maxPixels - source.storedWidth * source.storedHeight
  for (const _ of pagesAfterFirst(bytes)) {
    if (left <= 0) throw new RejectedImage('too many pixels', 'too_many_pixels')
    const { data, info } = await openSharp(bytes, left).raw().toBuffer({ resolveWithObject: true })
    left -= info.width * info.height
    releaseBuffer(data)
  }
}
