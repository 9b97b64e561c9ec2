import sharp, { type Sharp } from 'sharp'
import {
  cleanExif,
  cleanIptc,
  cleanXmp,
  insertApp13,
  insertPngMetadata,
} from '../../lib/image-metadata/index.ts'
import {
  findEffects,
  type OutputFormat,
  type ResolvedTransformation,
  type Step,
  MAX_SIDE_PIXELS,
} from '../modifiers/index.ts'
import { encode, encodeStill, isPalettePng, smallestAnimation, smallestPng, smallestStill } from './encode.ts'
import { areaOf, geometryOf, type Geometry, outputFormat, outputMime, staysAnimated } from './output.ts'
import { openForDisplay, type Source } from './source.ts'
import { rasterize, Stage, type Size } from './stage.ts'
import type { DerivedImage, Rendered } from './decoder-process.ts'
import type { WatermarkPlacement } from '../definitions.ts'

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
    const base = isLarger(scaled, stage) ? await scaleTo(stage, scaled).render() : stage
    return base.with(base.image.resize({ ...SHARP, width, height, fit: 'cover', position }), crop)
  }
  const whole = scaleTo(stage, scaled)
  return crop === undefined ? whole : whole.with(whole.image.extract(crop), crop)
}

const isLarger = (size: Size, image: Size): boolean => size.width > image.width || size.height > image.height

const scaleTo = (stage: Stage, size: Size): Stage =>
  stage.with(stage.image.resize({ ...SHARP, ...size, fit: 'fill' }), size)

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

export interface Colour {
  readonly r: number
  readonly g: number
  readonly b: number
  /** 0 to 1. */
  readonly alpha: number
}

const TRANSPARENT: Colour = { r: 0, g: 0, b: 0, alpha: 0 }
const WHITE: Colour = { r: 255, g: 255, b: 255, alpha: 1 }

/** The background of the output: the plan's, blended with white if the format has no transparency. */
function backgroundOf({ background }: ResolvedTransformation, isOpaque: boolean): Colour | undefined {
  if (background === null) return isOpaque ? WHITE : undefined
  const [r = 0, g = 0, b = 0, a = 0] = Buffer.from(background, 'hex')
  const alpha = a / 255
  if (!isOpaque) return { r, g, b, alpha }
  const onWhite = (sample: number): number => Math.round(sample * alpha + 255 * (1 - alpha))
  return { r: onWhite(r), g: onWhite(g), b: onWhite(b), alpha: 1 }
}

const isGrayColour = (colour: Colour | undefined): boolean =>
  colour === undefined || (colour.r === colour.g && colour.g === colour.b)

/** Puts a colour, which may be translucent, behind each frame of the image. */
function fillBackground(stage: Stage, background: Colour): Stage {
  const { width, height } = stage
  const create = { width, height, channels: 4 as const, background }
  const filled = stage.composite({ input: { create }, blend: 'dest-over', tile: true, gravity: 'northwest' })
  if (background.alpha === 1) filled.image.removeAlpha()
  return filled
}

/** Centers the image on the canvas and adds the border, both in the background colour. */
async function extendToCanvas(
  stage: Stage,
  canvas: Size,
  plan: ResolvedTransformation,
  background: Colour = TRANSPARENT,
): Promise<Stage> {
  const border = Math.min(plan.pad, Math.floor((MAX_SIDE_PIXELS - Math.max(canvas.width, canvas.height)) / 2))
  const width = canvas.width + border * 2
  const height = canvas.height + border * 2
  if (width === stage.width && height === stage.height) return stage
  const left = Math.floor((width - stage.width) / 2)
  const top = Math.floor((height - stage.height) / 2)
  const { image } = await stage.render()
  if (background.alpha < 1) image.ensureAlpha()
  image.extend({
    left,
    top,
    right: width - stage.width - left,
    bottom: height - stage.height - top,
    background,
  })
  return stage.with(image, { width, height })
}

export interface WatermarkSource {
  readonly source: Source
  readonly place: WatermarkPlacement
}

/** Puts a watermark on each frame, scaled down to fit between the margins. What the plan says of it overrides its place. */
async function addWatermark(
  stage: Stage,
  { source, place }: WatermarkSource,
  plan: ResolvedTransformation,
): Promise<Stage> {
  const { width, height } = stage
  const at = plan.watermarkPlace ?? place.at
  const share = plan.watermarkWidth ?? place.width
  const opacity = plan.watermarkOpacity ?? place.opacity
  const margin = Math.round((width * place.margin) / 100)
  const room = (side: number): number => Math.max(1, side - 2 * margin)
  const watermark = await openForDisplay(source)
  const { data, info } = await watermark
    .autoOrient()
    .resize({
      width: Math.min(room(width), Math.max(1, Math.round((width * share) / 100))),
      height: room(height),
      fit: 'inside',
    })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  for (let alpha = 3; alpha < data.length; alpha += 4) {
    data[alpha] = Math.round(((data[alpha] ?? 0) * opacity) / 100)
  }
  const overlay = {
    input: data,
    raw: { width: info.width, height: info.height, channels: info.channels },
    left: offset(at, 'w', 'e', width - info.width, margin),
    top: offset(at, 'n', 's', height - info.height, margin),
  }
  if (!stage.isAnimated) return (await stage.render()).composite(overlay)
  // An overlay of the size of a frame, tiled down the strip of frames, covers each of them.
  const frame = await sharp({ create: { width, height, channels: 4, background: TRANSPARENT } })
    .composite([overlay])
    .png()
    .toBuffer()
  return stage.composite({ input: frame, tile: true, gravity: 'northwest' })
}

function offset(
  at: WatermarkPlacement['at'],
  start: string,
  end: string,
  room: number,
  margin: number,
): number {
  let position = room / 2
  if (at !== 'center' && at.includes(start)) position = margin
  else if (at !== 'center' && at.includes(end)) position = room - margin
  return Math.min(room, Math.max(0, Math.round(position)))
}
