import { mimeOf } from '../../lib/image-metadata/index.ts'
import {
  needsStill,
  type OutputFormat,
  type ResolvedTransformation,
  type Transformation,
  MAX_SIDE_PIXELS,
  type Gravity,
} from '../modifiers/index.ts'
import type { Source } from './source.ts'
import type { Size } from './stage.ts'

export const outputMime: Readonly<Record<OutputFormat, string>> = { ...mimeOf, jpg: mimeOf.jpeg }

/** True if the derivative keeps the frames of an animation. */
export function staysAnimated(
  plan: Transformation,
  source: { readonly format: string; readonly frames: number },
  output: string,
): boolean {
  const isAnimatedFormat = (format: string) => format === 'gif' || format === 'webp'
  return isAnimatedFormat(source.format) && source.frames > 1 && isAnimatedFormat(output) && !needsStill(plan)
}

/**
 * The format to write: the plan's, else the image's own, else (TIFF, BMP, HEIC, SVG) one that every browser shows. If the client
 * chooses, the accepted format that takes most resources to write.
 */
export function outputFormat(plan: ResolvedTransformation, source: Source): OutputFormat {
  if (plan.format !== null) return plan.format
  const formats = plan.accepted ?? []
  if (formats.includes('webp') && staysAnimated(plan, source, 'webp')) return 'webp'
  if (formats.includes('avif')) return 'avif'
  if (formats.includes('webp')) return 'webp'
  return ownFormat(source)
}

export function ownFormat({ format, metadata }: Pick<Source, 'format' | 'metadata'>): OutputFormat {
  switch (format) {
    case 'jpeg':
      return 'jpg'
    case 'svg':
      return 'png'
    case 'tiff':
    case 'bmp':
    case 'heic':
      return metadata.hasAlpha ? 'png' : 'jpg'
    case 'png':
    case 'gif':
    case 'webp':
    case 'avif':
      return format
  }
}

export interface Box extends Size {
  readonly left: number
  readonly top: number
}

/** The steps from an image to its derivative: cut, scale, crop, extend to a canvas. All in pixels. */
export interface Geometry {
  /** Cut out before scaling. Set for very long images, most of which would be scaled unnecessarily. */
  readonly cut?: Box
  readonly scaled: Size
  readonly crop: Box | undefined
  readonly canvas: Size
}

type SizePlan = Pick<Transformation, 'width' | 'height' | 'ratio' | 'dpr' | 'enlarge' | 'fit' | 'gravity'>

/**
 * A scale as a fraction. Their quotient would lose precision: 1834 * (238.5 / 1834) is slightly less than 238.5, which has
 * to round to 239.
 */
interface Scale {
  readonly to: number
  readonly from: number
}

const UNSCALED: Scale = { to: 1, from: 1 }
/** Longest side of an image that is scaled and then cropped. */
const MAX_SCALED_SIDE = 2 * MAX_SIDE_PIXELS
const DPR_STEPS = 1000

/** Larger than the error of the divisions, so that exact halves round up; far smaller than any other fraction of a pixel. */
const ROUNDING_ERROR = 1e-9
const pixels = (side: number): number =>
  Math.min(MAX_SIDE_PIXELS, Math.max(1, Math.round(side + ROUNDING_ERROR)))
const roundSize = ({ width, height }: Size): Size => ({ width: pixels(width), height: pixels(height) })
const scaleSize = ({ width, height }: Size, { to, from }: Scale): Size => ({
  width: (width * to) / from,
  height: (height * to) / from,
})
const smallestScale = (...scales: readonly Scale[]): Scale =>
  scales.reduce((a, b) => (b.to / b.from < a.to / a.from ? b : a))

/** The box that the plan asks for. A side that it does not limit is infinite. */
function requestedBox(plan: SizePlan, image: Size): Size {
  const steps = Math.round(plan.dpr * DPR_STEPS)
  const width = plan.width === null ? undefined : (plan.width * steps) / DPR_STEPS
  const height = plan.height === null ? undefined : (plan.height * steps) / DPR_STEPS
  if (width !== undefined && height !== undefined) return { width, height }
  if (plan.ratio !== null) {
    const [across, down] = plan.ratio
    if (width !== undefined) return { width, height: (width * down) / across }
    if (height !== undefined) return { width: (height * across) / down, height }
    return image.width * down <= image.height * across
      ? { width: image.width, height: (image.width * down) / across }
      : { width: (image.height * across) / down, height: image.height }
  }
  return { width: width ?? Infinity, height: height ?? Infinity }
}

/** Where the gravity puts a crop, as fractions of the remaining space. */
function gravityFractions(gravity: Gravity): readonly [x: number, y: number] {
  if (gravity.kind === 'point') return [gravity.x, gravity.y]
  if (gravity.kind !== 'compass' || gravity.point === 'center') return [0.5, 0.5]
  const { point } = gravity
  const x = point.includes('w') ? 0 : point.includes('e') ? 1 : 0.5
  const y = point.startsWith('n') ? 0 : point.startsWith('s') ? 1 : 0.5
  return [x, y]
}

function cropOf(from: Size, to: Size, gravity: Gravity): Box {
  const [x, y] = gravityFractions(gravity)
  // A point should be in the middle of the crop; a compass point names the edge that stays.
  const place = (room: number, share: number, side: number, whole: number): number =>
    Math.round(
      Math.min(room, Math.max(0, gravity.kind === 'point' ? share * whole - side / 2 : share * room)),
    )
  return {
    ...to,
    left: place(from.width - to.width, x, to.width, from.width),
    top: place(from.height - to.height, y, to.height, from.height),
  }
}

/** The largest size with the aspect ratio of `size` that fits in `within` and is not larger than `size` itself. */
const shrinkTo = (size: Size, within: Size): Size =>
  scaleSize(
    size,
    smallestScale(UNSCALED, { to: within.width, from: size.width }, { to: within.height, from: size.height }),
  )

const minSides = (a: Size, b: Size): Size => ({
  width: Math.min(a.width, b.width),
  height: Math.min(a.height, b.height),
})

/** The part of an image that the plan cuts out; undefined if that lies outside. @param image size after orientation */
export function areaOf({ rect, rel }: Pick<Transformation, 'rect' | 'rel'>, image: Size): Box | undefined {
  const { width, height } = image
  const outer = clip(rect ?? [0, 0, width, height], image)
  if (outer === undefined || rel === null) return outer
  const [x, y, w, h] = rel
  const [left, top] = [Math.round(x * outer.width), Math.round(y * outer.height)]
  const [right, bottom] = [Math.round((x + w) * outer.width), Math.round((y + h) * outer.height)]
  const inner = clip([left, top, Math.max(1, right - left), Math.max(1, bottom - top)], outer)
  return inner && { ...inner, left: inner.left + outer.left, top: inner.top + outer.top }
}

function clip(
  [left, top, width, height]: readonly [number, number, number, number],
  image: Size,
): Box | undefined {
  if (left >= image.width || top >= image.height) return undefined
  return {
    left,
    top,
    width: Math.min(width, image.width - left),
    height: Math.min(height, image.height - top),
  }
}

/** Nothing is enlarged unless the plan says so, and no side exceeds the limit. @param image size after orientation and rotation */
export function geometryOf(plan: SizePlan, image: Size): Geometry {
  const box = requestedBox(plan, image)
  const isOpen = !Number.isFinite(box.width) || !Number.isFinite(box.height)
  const limit = { width: MAX_SIDE_PIXELS, height: MAX_SIDE_PIXELS }
  // `fit` takes the sides of the box as independent limits; the other modes keep its aspect ratio.
  const capped = isOpen || plan.fit === 'fit' ? minSides(box, limit) : shrinkTo(box, limit)
  const within = smallestScale(
    { to: capped.width, from: image.width },
    { to: capped.height, from: image.height },
  )
  const scale =
    plan.enlarge && (plan.width !== null || plan.height !== null) ? within : smallestScale(UNSCALED, within)
  const inside = roundSize(scaleSize(image, scale))
  const whole: Geometry = { scaled: inside, crop: undefined, canvas: inside }

  switch (plan.fit) {
    case 'fit':
      return whole
    case 'pad':
      return isOpen ? whole : { ...whole, canvas: roundSize(capped) }
    case 'scale': {
      if (isOpen) return whole
      const scaled = roundSize(plan.enlarge ? capped : minSides(capped, image))
      return { scaled, crop: undefined, canvas: scaled }
    }
    case 'crop': {
      const size = roundSize(isOpen ? minSides(capped, image) : shrinkTo(capped, image))
      return { scaled: image, crop: cropOf(image, size, plan.gravity), canvas: size }
    }
    case 'fill': {
      if (isOpen) return whole
      const size = roundSize(plan.enlarge ? capped : shrinkTo(capped, image))
      const cover = Math.max(size.width / image.width, size.height / image.height)
      // Rounding must not leave the scaled image a pixel short of the crop.
      const scaled = {
        width: Math.max(size.width, Math.round(image.width * cover)),
        height: Math.max(size.height, Math.round(image.height * cover)),
      }
      if (Math.max(scaled.width, scaled.height) > MAX_SCALED_SIDE) {
        const part = minSides(image, roundSize(scaleSize(size, { to: 1, from: cover })))
        return { cut: cropOf(image, part, plan.gravity), scaled: size, crop: undefined, canvas: size }
      }
      return { scaled, crop: cropOf(scaled, size, plan.gravity), canvas: size }
    }
  }
}
