import sharp, { type Metadata, type Sharp } from 'sharp'
import {
  cleanExif,
  cleanIptc,
  cleanXmp,
  insertApp13,
  insertPngMetadata,
} from '../../lib/image-metadata/index.ts'
import type { OutputFormat, ResolvedTransformation } from '../../lib/modifiers/index.ts'
import {
  addWatermark,
  backgroundOf,
  extendToCanvas,
  fillBackground,
  isGrayColour,
  pixelate,
  rasterize,
  render,
  roundCorners,
  toGray,
  type Stage,
  type WatermarkSource,
} from './effects.ts'
import { encode, smallestAnimation, smallestPng, smallestStill } from './encode.ts'
import { geometryOf, type Geometry } from './geometry.ts'
import { outputFormat, outputMime, staysAnimated } from './output-format.ts'
import { openForDisplay, type Source } from './source.ts'
import type { DerivedImage, Rendered } from './protocol.ts'

/** Smallest side that sharp trims, in pixels. */
const MIN_TRIM_SIDE = 3
const GRAY_SPACES = new Set(['b-w', 'grey16'])

/** Renders a derivative. The steps run in this order, whatever the order of the modifiers. Rejects if the image does not decode. */
export async function deriveImage(
  source: Source,
  plan: ResolvedTransformation,
  watermark: WatermarkSource | undefined,
): Promise<DerivedImage> {
  const format = outputFormat(plan, source)
  const isAnimated = staysAnimated(plan, source, format)
  const opened = await open(source, plan, isAnimated)
  const geometry = geometryOf(plan, opened)
  let stage = resize(opened, geometry, plan)
  if (plan.gray) {
    if (isAnimated) stage.image.grayscale()
    else stage = await toGray(stage)
  }
  if (plan.blur > 0) stage.image.blur(plan.blur)
  if (plan.sharpen) stage.image.sharpen()
  if (plan.pixelate > 0) stage = await pixelate(stage, plan.pixelate)
  const isOpaque = format === 'jpg'
  const background = backgroundOf(plan, isOpaque)
  const mayBeTransparent = source.metadata.hasAlpha || source.format === 'gif' || source.format === 'svg'
  if (background !== undefined && mayBeTransparent) stage = fillBackground(stage, background)
  stage = await extendToCanvas(stage, geometry.canvas, plan, background)
  if (plan.radius !== 0) {
    stage = await roundCorners(stage, plan.radius)
    if (isOpaque && background !== undefined) stage = await render(fillBackground(stage, background))
  }
  if (watermark !== undefined) stage = await addWatermark(stage, watermark, isAnimated)
  const isGray =
    (plan.gray || GRAY_SPACES.has(source.metadata.space)) &&
    watermark === undefined &&
    isGrayColour(background)
  const rendered = await write(stage, source, plan, format, isAnimated, isGray ? 'b-w' : 'srgb')
  return { kind: 'image', ...rendered }
}

async function open(source: Source, plan: ResolvedTransformation, isAnimated: boolean): Promise<Stage> {
  const { width, height, frames } = source
  if (isAnimated) return { image: await openForDisplay(source, { pages: -1 }), width, height }
  const page = Math.min(plan.frame ?? 0, frames - 1)
  let stage: Stage = { image: (await openForDisplay(source, { page })).autoOrient(), width, height }
  if (page > 0 && source.format === 'tiff') stage = await render(stage)
  if (plan.trim && Math.min(width, height) >= MIN_TRIM_SIDE)
    stage = await render({ image: (await render(stage)).image.trim() })
  if (plan.rotate === 0 && !plan.flip && !plan.flop) return stage
  stage = await render(stage)
  if (plan.rotate !== 0) stage = await render({ image: stage.image.rotate(plan.rotate) })
  return { ...stage, image: stage.image.flip(plan.flip).flop(plan.flop) }
}

function resize({ image }: Stage, { cut, scaled, crop }: Geometry, plan: ResolvedTransformation): Stage {
  if (cut !== undefined) image.extract(cut)
  if (crop === undefined) return { image: image.resize({ ...scaled, fit: 'fill' }), ...scaled }
  const { width, height } = crop
  const { kind } = plan.gravity
  if (kind === 'auto' || kind === 'entropy') {
    const position = kind === 'auto' ? sharp.strategy.attention : sharp.strategy.entropy
    return { image: image.resize({ width, height, fit: 'cover', position }), width, height }
  }
  return { image: image.resize({ ...scaled, fit: 'fill' }).extract(crop), width, height }
}

async function write(
  stage: Stage,
  source: Source,
  plan: ResolvedTransformation,
  format: OutputFormat,
  isAnimated: boolean,
  space: 'b-w' | 'srgb',
): Promise<Rendered> {
  const { image } = stage
  const pixels = stage.width * stage.height
  const mime = outputMime[format]
  if (isAnimated) {
    image.toColourspace('srgb')
    if (plan.accepted !== null) return smallestAnimation(image, source, plan, stage)
    return { bytes: await encode(image, format, plan, true, pixels).toBuffer(), mime }
  }
  const isOptimizedPng = format === 'png' && plan.quality === null
  if (plan.accepted === null && !plan.keepMetadata && !isOptimizedPng)
    return { bytes: await encode(image.toColourspace(space), format, plan, false, pixels).toBuffer(), mime }
  // Several encoders read the pixels: the pipeline runs once. In colours, because sharp drops the alpha channel of gray.
  image.toColourspace('srgb')
  const openFinished = plan.keepMetadata
    ? await renderWithMetadata(image, source.metadata)
    : (await rasterize(image)).open
  const openInSpace = () => openFinished().toColourspace(space)
  if (plan.accepted !== null) return smallestStill(openInSpace, source, plan, stage)
  if (isOptimizedPng) return { bytes: await smallestPng(openInSpace, stage), mime }
  const bytes = await encode(openInSpace(), format, plan, false, pixels).toBuffer()
  // Other output formats have no place for IPTC.
  const iptc = plan.keepMetadata && format === 'jpg' && source.metadata.iptc
  const content = iptc ? cleanIptc(iptc) : undefined
  return { bytes: content === undefined ? bytes : insertApp13(bytes, content), mime }
}

/**
 * Renders a picture with EXIF and XMP of the original, but without colour profile (derivatives are in sRGB) and
 * thumbnails (which may show what was cropped or covered).
 */
async function renderWithMetadata(image: Sharp, { exif, xmp }: Metadata): Promise<() => Sharp> {
  // Sharp takes metadata from its input only, and an uncompressed PNG can carry both.
  const png = await image.png({ compressionLevel: 0 }).toBuffer()
  const carrier = insertPngMetadata(png, { exif: exif && cleanExif(exif), xmp: xmp && cleanXmp(xmp) })
  return () => sharp(carrier, { limitInputPixels: false }).keepExif().keepXmp()
}
