import sharp from 'sharp'
import type { WatermarkPlacement } from '../image-settings.ts'
import { MAX_SIDE_PIXELS, type ResolvedTransformation } from '../modifiers/index.ts'
import { openForDisplay, type Source } from './source.ts'
import type { Size, Stage } from './stage.ts'

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
export function backgroundOf({ background }: ResolvedTransformation, isOpaque: boolean): Colour | undefined {
  if (background === null) return isOpaque ? WHITE : undefined
  const [r = 0, g = 0, b = 0, a = 0] = Buffer.from(background, 'hex')
  const alpha = a / 255
  if (!isOpaque) return { r, g, b, alpha }
  const onWhite = (sample: number): number => Math.round(sample * alpha + 255 * (1 - alpha))
  return { r: onWhite(r), g: onWhite(g), b: onWhite(b), alpha: 1 }
}

export const isGrayColour = (colour: Colour | undefined): boolean =>
  colour === undefined || (colour.r === colour.g && colour.g === colour.b)

/** Puts a colour, which may be translucent, behind each frame of the image. */
export function fillBackground(stage: Stage, background: Colour): Stage {
  const { width, height } = stage
  const create = { width, height, channels: 4 as const, background }
  const filled = stage.composite({ input: { create }, blend: 'dest-over', tile: true, gravity: 'northwest' })
  if (background.alpha === 1) filled.image.removeAlpha()
  return filled
}

/** Centers the image on the canvas and adds the border, both in the background colour. */
export async function extendToCanvas(
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
export async function addWatermark(
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
