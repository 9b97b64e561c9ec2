import type { ImageFormat } from '../../lib/image-metadata/index.ts'
import { copiesOutput, type ResolvedTransformation } from '../modifiers/index.ts'
import { areaOf, geometryOf, outputFormat, staysAnimated } from './output.ts'
import type { Source } from './source.ts'

/**
 * Peak bytes of memory per pixel of a whole decode, including the raw output. Measured as growth of the resident set for
 * images of 24 megapixels (`buffered`: interlaced PNG, progressive JPEG), rounded up.
 */
const DECODE_BYTES_PER_PIXEL = {
  jpeg: { streamed: 5, buffered: 13 },
  png: { streamed: 8, buffered: 13 },
  gif: { streamed: 10, buffered: 10 },
  webp: { streamed: 16, buffered: 16 },
  avif: { streamed: 24, buffered: 24 },
  tiff: { streamed: 10, buffered: 10 },
  svg: { streamed: 10, buffered: 10 },
  bmp: { streamed: 16, buffered: 16 },
  heic: { streamed: 24, buffered: 24 },
} as const satisfies Record<ImageFormat, { streamed: number; buffered: number }>

/** The decoder's tables and whatever else does not depend on the pixels. */
const FIXED_BYTES = 8 * 1024 * 1024
/** Factor for samples of more than 8 bits. */
const DEEP_FACTOR = 1.5
/** Applying an orientation needs a second copy of all pixels. */
const ORIENTATION_BYTES_PER_PIXEL = 4
const AVIF_ENCODE_BYTES_PER_PIXEL = 40
/** AVIF takes as long as the other formats with eight times the pixels. */
const AVIF_WEIGHT_PER_PIXEL = 8 * 12
const ENCODE_BYTES_PER_PIXEL = 12
/** For the finished picture, which is kept while several encoders read it. */
const FINISHED_BYTES_PER_PIXEL = 8
/** For the picture and its copy while `q_auto` scores them, and for the coarse scales of both. */
const SCORED_BYTES_PER_PIXEL = 20
/** For the fine scales of a part of them. */
const SCORED_BYTES = 48 * 1024 * 1024

/**
 * Seconds to write an animation on a common core, per frame and per pixel. Measured; the content can halve or double it.
 */
const ANIMATION_SECONDS = {
  webp: { frame: 0.8e-3, pixel: 0.2e-6 },
  gif: { frame: 1e-3, pixel: 0.6e-6 },
} as const

/** What a job is expected to take. */
export interface Cost {
  /** Peak memory. */
  readonly bytes: number
  /** Share of the memory of all jobs that is set aside, which is more than `bytes` for a job that takes long. */
  readonly weight: number
  /** Processor time, where it can be estimated: of animations. */
  readonly seconds: number
}

export function decodeCost(source: Source): Cost {
  const { format, structure, metadata } = source
  const perPixel = DECODE_BYTES_PER_PIXEL[format][structure.buffered ? 'buffered' : 'streamed']
  const orientation = (metadata.orientation ?? 1) > 1 ? ORIENTATION_BYTES_PER_PIXEL : 0
  const depth = metadata.depth === 'uchar' ? 1 : DEEP_FACTOR
  const pixels = Math.max(source.storedWidth * source.storedHeight * source.frames, source.screenPixels)
  const bytes = FIXED_BYTES + source.bytes.length + pixels * (perPixel + orientation) * depth
  return { bytes, weight: bytes, seconds: 0 }
}

export function deriveCost(source: Source, plan: ResolvedTransformation): Cost {
  const format = outputFormat(plan, source)
  const isAnimated = staysAnimated(plan, source, format)
  const frames = isAnimated ? source.frames : 1
  const { canvas } = geometryOf(plan, areaOf(plan, source) ?? source)
  const outputPixels = canvas.width * canvas.height
  const isKept = plan.accepted !== null || plan.quality === 'auto' || copiesOutput(plan) || format === 'png'
  const decodeBytes = decodeCost({ ...source, frames }).bytes
  const pixels = outputPixels * frames
  const scoredBytes = plan.quality === 'auto' ? SCORED_BYTES + pixels * SCORED_BYTES_PER_PIXEL : 0
  const keptBytes = scoredBytes + (isKept ? pixels * FINISHED_BYTES_PER_PIXEL : 0)
  const isAvif = format === 'avif'
  const encodeBytes = pixels * (isAvif ? AVIF_ENCODE_BYTES_PER_PIXEL : ENCODE_BYTES_PER_PIXEL)
  const bytes = decodeBytes + keptBytes + encodeBytes
  const weight = isAvif ? decodeBytes + keptBytes + pixels * AVIF_WEIGHT_PER_PIXEL : bytes
  if (!isAnimated || (format !== 'webp' && format !== 'gif')) return { bytes, weight, seconds: 0 }
  const { frame, pixel } = ANIMATION_SECONDS[format]
  return { bytes, weight, seconds: frames * (frame + outputPixels * pixel) }
}
