import sharp, { type Sharp } from 'sharp'
import {
  cleanExif,
  cleanIptc,
  cleanXmp,
  insertApp13,
  insertPngMetadata,
} from '../../lib/image-metadata/index.ts'
import { findEffects, type OutputFormat, type ResolvedTransformation, type Step } from '../modifiers/index.ts'
import {
  addWatermark,
  backgroundOf,
  extendToCanvas,
  fillBackground,
  isGrayColour,
  type WatermarkSource,
} from './effects.ts'
import { encode, encodeStill, isPalettePng, smallestAnimation, smallestPng, smallestStill } from './encode.ts'
import { areaOf, geometryOf, type Geometry } from './geometry.ts'
import { enlargePixels } from './pixels.ts'
import { outputFormat, outputMime, staysAnimated } from './output-format.ts'
import { openForDisplay, type Source } from './source.ts'
import { rasterize, Stage, type Size } from './stage.ts'
import type { DerivedImage, Rendered } from './protocol.ts'

/** Otherwise libjpeg reduces the picture by averages, and libvips has hardly anything left to filter. */
const SHARP = { fastShrinkOnLoad: false }
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
  let stage = await resize(opened, geometry, plan)
  stage = await applyStep('colour', stage, plan)
  stage = await applyStep('detail', stage, plan)
  const isOpaque = format === 'jpg'
  const background = backgroundOf(plan, isOpaque)
  const mayBeTransparent = source.metadata.hasAlpha || source.format === 'gif' || source.format === 'svg'
  if (background !== undefined && mayBeTransparent) stage = fillBackground(stage, background)
  stage = await extendToCanvas(stage, geometry.canvas, plan, background)
  const shaped = await applyStep('shape', stage, plan)
  const isFilled = shaped !== stage && isOpaque && background !== undefined
  stage = isFilled ? await fillBackground(shaped, background).render() : shaped
  if (watermark !== undefined) stage = await addWatermark(stage, watermark, plan)
  const isGray =
    (plan.gray || GRAY_SPACES.has(source.metadata.space)) &&
    watermark === undefined &&
    isGrayColour(background)
  const rendered = await write(stage, source, plan, format, isAnimated, isGray ? 'b-w' : 'srgb')
  return { kind: 'image', ...rendered }
}

/** Applies what the plan has of a step. */
async function applyStep(step: Step, stage: Stage, plan: ResolvedTransformation): Promise<Stage> {
  let applied = stage
  for (const apply of findEffects(plan, step)) applied = await apply(applied)
  return applied
}

async function open(source: Source, plan: ResolvedTransformation, isAnimated: boolean): Promise<Stage> {
  const { frames } = source
  if (isAnimated) return new Stage(await openForDisplay(source, { pages: -1 }), source, true)
  const page = Math.min(plan.frame ?? 0, frames - 1)
  let stage = new Stage((await openForDisplay(source, { page })).autoOrient(), source)
  if (page > 0 && source.format === 'tiff') stage = await stage.render()
  const area = areaOf(plan, stage)
  if (area !== undefined && (plan.rect !== null || plan.rel !== null))
    stage = await stage.render(stage.image.extract(area))
  stage = await applyStep('cut', stage, plan)
  if (findEffects(plan, 'turn').length === 0) return stage
  return applyStep('turn', await stage.render(), plan)
}

async function resize(
  opened: Stage,
  { cut, scaled, crop }: Geometry,
  plan: ResolvedTransformation,
): Promise<Stage> {
  const stage = cut === undefined ? opened : opened.with(opened.image.extract(cut), cut)
  const { kind } = plan.gravity
  if (crop !== undefined && (kind === 'auto' || kind === 'entropy')) {
    const position = kind === 'auto' ? sharp.strategy.attention : sharp.strategy.entropy
    const { width, height } = crop
    const base = isLarger(scaled, stage) ? await scaleTo(stage, scaled) : stage
    return base.with(base.image.resize({ ...SHARP, width, height, fit: 'cover', position }), crop)
  }
  const whole = await scaleTo(stage, scaled)
  return crop === undefined ? whole : whole.with(whole.image.extract(crop), crop)
}

const isLarger = (size: Size, image: Size): boolean => size.width > image.width || size.height > image.height

async function scaleTo(stage: Stage, size: Size): Promise<Stage> {
  const { image, width, height, isAnimated } = stage
  if (isAnimated || !isLarger(size, stage))
    return stage.with(image.resize({ ...SHARP, ...size, fit: 'fill' }), size)
  const least = { width: Math.min(width, size.width), height: Math.min(height, size.height) }
  const shrunk = stage.with(image.resize({ ...SHARP, ...least, fit: 'fill' }), least)
  return shrunk.map((pixels) => enlargePixels(pixels, size))
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
  const isOptimizedPng = format === 'png' && !isPalettePng(plan)
  if (plan.accepted === null && !plan.keepMetadata && !isOptimizedPng && plan.quality !== 'auto')
    return { bytes: await encode(image.toColourspace(space), format, plan, false, pixels).toBuffer(), mime }
  // Several encoders read the pixels: the pipeline runs once. In colours, because sharp drops the alpha channel of gray.
  image.toColourspace('srgb')
  const openFinished = plan.keepMetadata
    ? await renderWithMetadata(image, source)
    : (await rasterize(image)).open
  const openInSpace = () => openFinished().toColourspace(space)
  if (plan.accepted !== null) return smallestStill(openInSpace, source, plan, stage)
  if (isOptimizedPng) return { bytes: await smallestPng(openInSpace, stage), mime }
  const bytes = await encodeStill(openInSpace, format, plan, stage)
  // Other output formats have no place for IPTC.
  const iptc = plan.keepMetadata && format === 'jpg' && source.metadata.iptc
  const content = iptc ? cleanIptc(iptc) : undefined
  return { bytes: content === undefined ? bytes : insertApp13(bytes, content), mime }
}

/**
 * Renders a picture with EXIF and XMP of the original, but without colour profile (derivatives are in sRGB) and
 * thumbnails (which may show what was cropped or covered).
 */
async function renderWithMetadata(
  image: Sharp,
  { format, bytes, metadata: { exif, xmp } }: Source,
): Promise<() => Sharp> {
  // Sharp takes metadata from its input only, and an uncompressed PNG can carry both.
  const png = await image.png({ compressionLevel: 0 }).toBuffer()
  // A TIFF is laid out as EXIF, and libvips does not read that of one.
  const block = format === 'tiff' ? bytes : exif
  const carrier = insertPngMetadata(png, { exif: block && cleanExif(block), xmp: xmp && cleanXmp(xmp) })
  return () => sharp(carrier, { limitInputPixels: false }).keepExif().keepXmp()
}
