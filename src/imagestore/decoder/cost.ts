import type { SettledPlan } from '../links/modifiers/plan.ts'
import { outputFormat } from './encode.ts'
import { geometryOf } from './geometry.ts'
import { staysAnimated } from './motion.ts'
import type { Source } from './source.ts'
import type { ImageKind } from './types.ts'

/**
 * Bytes of memory a pixel takes at the peak of a whole decode, the raw output included. Measured as growth of the resident set over
 * images of 24 megapixels (`buffered`: interlaced PNG, progressive JPEG), rounded up.
 */
const bytesPerPixel = {
  jpeg: { streamed: 5, buffered: 13 },
  png: { streamed: 8, buffered: 13 },
  gif: { streamed: 10, buffered: 10 },
  webp: { streamed: 16, buffered: 16 },
  avif: { streamed: 24, buffered: 24 },
  tiff: { streamed: 10, buffered: 10 },
  svg: { streamed: 10, buffered: 10 },
} as const satisfies Record<ImageKind, { streamed: number; buffered: number }>

/** Beyond pixels: the file itself and the decoder's tables. */
const FIXED = 8 * 1024 * 1024

/** Samples of more than 8 bits, beside 8-bit output. */
const DEEP = 1.5

/** Turning needs all pixels at once, a second copy. */
const TURNED = 4

/** Bytes of memory that decoding the whole image is expected to take. */
export function decodeCost({
  kind,
  structure,
  bytes,
  storedWidth,
  storedHeight,
  frames,
  metadata,
}: Source): number {
  const rate = bytesPerPixel[kind][structure.buffered ? 'buffered' : 'streamed']
  const turned = (metadata.orientation ?? 1) > 1 ? TURNED : 0
  const deep = metadata.depth === 'uchar' ? 1 : DEEP
  return FIXED + bytes.length + storedWidth * storedHeight * frames * (rate + turned) * deep
}

/** Bytes of memory that writing takes for each pixel of the output. */
const AVIF_WRITE = 40
const USUAL_WRITE = 12
/** The finished picture is held while one encoder after the other reads it. */
const HELD = 8

/**
 * Seconds that writing an animation takes on a usual core, for each frame and for each pixel of it. Measured; what is in the
 * picture makes it half or twice as long.
 */
const ANIMATION_SECONDS = {
  webp: { frame: 0.8e-3, pixel: 0.2e-6 },
  gif: { frame: 1e-3, pixel: 0.6e-6 },
} as const

/** Seconds of a core that making the derivative is expected to take, as far as that can be told beforehand: of animations. */
export function deriveSeconds(source: Source, plan: SettledPlan): number {
  const format = outputFormat(plan, source)
  if ((format !== 'webp' && format !== 'gif') || !staysAnimated(plan, source, format)) return 0
  const { canvas } = geometryOf(plan, source)
  const { frame, pixel } = ANIMATION_SECONDS[format]
  return source.frames * (frame + canvas.width * canvas.height * pixel)
}

/** Pixels of the output, one frame: encoding them, and effects on them, takes most of the time of a large one. */
export function outputPixels(source: Source, plan: SettledPlan): number {
  const { canvas } = geometryOf(plan, source)
  return canvas.width * canvas.height
}

/** Bytes of memory that making the derivative is expected to take. */
export function deriveCost(source: Source, plan: SettledPlan): number {
  const format = outputFormat(plan, source)
  const frames = staysAnimated(plan, source, format) ? source.frames : 1
  const { canvas } = geometryOf(plan, source)
  const held = plan.client !== null || plan.keepMetadata || plan.gray || format === 'png' ? HELD : 0
  const rate = (format === 'avif' ? AVIF_WRITE : USUAL_WRITE) + held
  const write = canvas.width * canvas.height * frames * rate
  return decodeCost({ ...source, frames }) + write
}
