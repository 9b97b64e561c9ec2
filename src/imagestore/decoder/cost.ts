import type { ImageFormat } from '../../lib/image-metadata/index.ts'
import type { ResolvedTransformation } from '../../lib/modifiers/index.ts'
import { geometryOf } from './geometry.ts'
import { outputFormat, staysAnimated } from './output-format.ts'
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
} as const satisfies Record<ImageFormat, { streamed: number; buffered: number }>

/** The decoder's tables and whatever else does not depend on the pixels. */
const FIXED_BYTES = 8 * 1024 * 1024
/** Factor for samples of more than 8 bits. */
const DEEP_FACTOR = 1.5
/** Applying an orientation needs a second copy of all pixels. */
const ORIENTATION_BYTES_PER_PIXEL = 4
const AVIF_ENCODE_BYTES_PER_PIXEL = 40
const ENCODE_BYTES_PER_PIXEL = 12
/** For the finished picture, which is kept while several encoders read it. */
const FINISHED_BYTES_PER_PIXEL = 8

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
  /** Processor time, where it can be estimated: of animations. */
  readonly seconds: number
  /** Pixels of one frame of the output: encoding and effects take most of the time of a large one. */
  readonly outputPixels: number
}

export function decodeCost(source: Source): Cost {
  const { format, structure, metadata } = source
  const perPixel = DECODE_BYTES_PER_PIXEL[format][structure.buffered ? 'buffered' : 'streamed']
  const orientation = (metadata.orientation ?? 1) > 1 ? ORIENTATION_BYTES_PER_PIXEL : 0
  const depth = metadata.depth === 'uchar' ? 1 : DEEP_FACTOR
  const pixels = Math.max(source.storedWidth * source.storedHeight * source.frames, source.screenPixels)
  const bytes = FIXED_BYTES + source.bytes.length + pixels * (perPixel + orientation) * depth
  return { bytes, seconds: 0, outputPixels: 0 }
}

export function deriveCost(source: Source, plan: ResolvedTransformation): Cost {
  const format = outputFormat(plan, source)
  const isAnimated = staysAnimated(plan, source, format)
  const frames = isAnimated ? source.frames : 1
  const { canvas } = geometryOf(plan, source)
  const outputPixels = canvas.width * canvas.height
  const isKept = plan.client !== null || plan.keepMetadata || plan.gray || format === 'png'
  const encodeBytes =
    (format === 'avif' ? AVIF_ENCODE_BYTES_PER_PIXEL : ENCODE_BYTES_PER_PIXEL) +
    (isKept ? FINISHED_BYTES_PER_PIXEL : 0)
  const bytes = decodeCost({ ...source, frames }).bytes + outputPixels * frames * encodeBytes
  if (!isAnimated || (format !== 'webp' && format !== 'gif')) return { bytes, seconds: 0, outputPixels }
  const { frame, pixel } = ANIMATION_SECONDS[format]
  return { bytes, seconds: frames * (frame + outputPixels * pixel), outputPixels }
}
