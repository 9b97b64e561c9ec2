import sharp from 'sharp'
import type { SettledPlan } from '../modifiers/plan.ts'
import { framed, pixelated, rounded } from './effects.ts'
import { encode, outputFormat, outputMime } from './encode.ts'
import { marked, type MarkSource } from './mark.ts'
import { geometryOf, type Geometry } from './geometry.ts'
import { staysAnimated } from './motion.ts'
import { openSharp, type Source } from './source.ts'
import { settled, type Stage } from './stage.ts'
import type { DerivedImage } from './types.ts'

/** Pixels a side. */
const MIN_TRIM = 3

async function open(source: Source, plan: SettledPlan, animated: boolean): Promise<Stage> {
  const { bytes, maxPixels, width, height, frames } = source
  if (animated) return { image: openSharp(bytes, maxPixels, { pages: -1 }), width, height }
  const page = Math.min(plan.frame ?? 0, frames - 1)
  let stage: Stage = { image: openSharp(bytes, maxPixels, { page }).autoOrient(), width, height }
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
  if (plan.gray) stage.image.grayscale()
  if (plan.blur > 0) stage.image.blur(plan.blur)
  if (plan.sharpen) stage.image.sharpen()
  if (plan.pixelate > 0) stage = await pixelated(stage, plan.pixelate)
  const opaque = format === 'jpg'
  stage = await framed(stage, geometry.canvas, plan, opaque)
  if (plan.radius !== 0) stage = await rounded(stage, plan.radius)
  if (mark !== undefined) stage = await marked(stage, mark, animated)
  if (opaque)
    stage.image.flatten({ background: plan.background === null ? '#fff' : `#${plan.background.slice(0, 6)}` })
  else if (plan.background !== null && plan.radius === 0)
    stage.image.flatten({ background: `#${plan.background}` })
  if (plan.keepMetadata) stage.image.keepMetadata()
  const { data, info } = await encode(
    stage.image.toColourspace('srgb'),
    format,
    plan.quality,
    animated,
  ).toBuffer({
    resolveWithObject: true,
  })
  const height = info.pageHeight ?? info.height
  return { kind: 'image', bytes: data, mime: outputMime[format], width: info.width, height }
}
