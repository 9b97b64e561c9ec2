import sharp, { type Sharp } from 'sharp'
import type { OutputFormat, SettledPlan } from '../links/modifiers/plan.ts'
import { backgroundOf, framed, grayed, isColourless, laidOn, pixelated, rounded } from './effects.ts'
import { encode, outputFormat, outputMime } from './encode.ts'
import { withIptc, withMetadata } from './metadata/index.ts'
import { smallestMotion, smallestPng, smallestStill, type Encoded } from './smallest.ts'
import { marked, type MarkSource } from './mark.ts'
import { geometryOf, type Geometry } from './geometry.ts'
import { staysAnimated } from './motion.ts'
import { openPicture, type Source } from './source.ts'
import { settled, type Stage } from './stage.ts'
import type { DerivedImage } from './types.ts'

/** Pixels a side. */
const MIN_TRIM = 3
const GRAY_SPACES = new Set(['b-w', 'grey16'])

async function open(source: Source, plan: SettledPlan, animated: boolean): Promise<Stage> {
  const { width, height, frames } = source
  if (animated) return { image: await openPicture(source, { pages: -1 }), width, height }
  const page = Math.min(plan.frame ?? 0, frames - 1)
  let stage: Stage = { image: (await openPicture(source, { page })).autoOrient(), width, height }
  if (page > 0 && source.kind === 'tiff') stage = await settled(stage)
  // The library refuses to look for a border around less.
  if (plan.trim && Math.min(width, height) >= MIN_TRIM)
    stage = await settled({ image: (await settled(stage)).image.trim() })
  if (plan.rotate === 0 && !plan.flip && !plan.flop) return stage
  stage = await settled(stage)
  if (plan.rotate !== 0) stage = await settled({ image: stage.image.rotate(plan.rotate) })
  return { ...stage, image: stage.image.flip(plan.flip).flop(plan.flop) }
}

function resize({ image }: Stage, { cut, scaled, crop }: Geometry, plan: SettledPlan): Stage {
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

const mayBeClear = ({ kind, metadata }: Source): boolean =>
  metadata.hasAlpha || kind === 'gif' || kind === 'svg'

/** The pipeline, in this order whatever the order of the modifiers. Rejects when the image does not decode. */
export async function deriveImage(
  source: Source,
  plan: SettledPlan,
  mark: MarkSource | undefined,
): Promise<DerivedImage> {
  const format = outputFormat(plan, source)
  const animated = staysAnimated(plan, source, format)
  const opened = await open(source, plan, animated)
  const geometry = geometryOf(plan, opened)
  let stage = resize(opened, geometry, plan)
  if (plan.gray) {
    if (animated) stage.image.grayscale()
    else stage = await grayed(stage)
  }
  if (plan.blur > 0) stage.image.blur(plan.blur)
  if (plan.sharpen) stage.image.sharpen()
  if (plan.pixelate > 0) stage = await pixelated(stage, plan.pixelate)
  const opaque = format === 'jpg'
  const background = backgroundOf(plan, opaque)
  if (background !== undefined && mayBeClear(source)) stage = laidOn(stage, background)
  stage = await framed(stage, geometry.canvas, plan, background)
  if (plan.radius !== 0) {
    stage = await rounded(stage, plan.radius)
    if (opaque && background !== undefined) stage = await settled(laidOn(stage, background))
  }
  if (mark !== undefined) stage = await marked(stage, mark, animated)
  const isGray =
    (plan.gray || GRAY_SPACES.has(source.metadata.space)) && mark === undefined && isColourless(background)
  const { bytes, mime } = await write(stage, source, plan, format, animated, isGray ? 'b-w' : 'srgb')
  const { width, height, pageHeight } = await sharp(bytes, { limitInputPixels: false }).metadata()
  return { kind: 'image', bytes, mime, width, height: pageHeight ?? height }
}

async function write(
  stage: Stage,
  source: Source,
  plan: SettledPlan,
  format: OutputFormat,
  animated: boolean,
  space: 'b-w' | 'srgb',
): Promise<Encoded> {
  const { image } = stage
  const pixels = stage.width * stage.height
  const mime = outputMime[format]
  if (animated) {
    image.toColourspace('srgb')
    if (plan.client !== null) return smallestMotion(image, source, plan, stage)
    return { bytes: await encode(image, format, plan, true, pixels).toBuffer(), mime }
  }
  const isOpenPng = format === 'png' && plan.quality === null
  if (plan.client === null && !plan.keepMetadata && !isOpenPng)
    return { bytes: await encode(image.toColourspace(space), format, plan, false, pixels).toBuffer(), mime }
  image.toColourspace('srgb')
  const whole = plan.keepMetadata ? await withMetadata(image, source.metadata) : await finished(image)
  const open = () => whole().toColourspace(space)
  if (plan.client !== null) return smallestStill(open, source, plan, stage)
  if (isOpenPng) return { bytes: await smallestPng(open, stage), mime }
  const bytes = await encode(open(), format, plan, false, pixels).toBuffer()
  return { bytes: plan.keepMetadata && format === 'jpg' ? withIptc(bytes, source.metadata) : bytes, mime }
}

/** Runs the pipeline once, for encoders that each read its pixels from the beginning. In colours: of gray the library drops alpha. */
async function finished(image: Sharp): Promise<() => Sharp> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  return () => sharp(data, { raw: { width, height, channels } })
}
