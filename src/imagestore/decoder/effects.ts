import sharp, { type OverlayOptions, type Sharp } from 'sharp'
import type { WatermarkPlacement } from '../image-settings.ts'
import { MAX_SIDE_PIXELS, type ResolvedTransformation } from '../../lib/modifiers/index.ts'
import type { Size } from './geometry.ts'
import { openForDisplay, type Source } from './source.ts'

/** A pipeline, and the size of one frame of its output. */
export interface Stage extends Size {
  readonly image: Sharp
  /** What is composited when it runs. Sharp forgets earlier overlays at each call of `composite`. */
  readonly overlays?: readonly OverlayOptions[]
}

/** Runs the pipeline so far. `open` begins another one from its pixels. */
export async function rasterize(image: Sharp) {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  return { open: () => sharp(data, { raw: { width, height, channels } }), width, height }
}

/** Runs the pipeline so far, so that further steps run in our order and not in sharp's own. */
export async function render({ image }: Pick<Stage, 'image'>): Promise<Stage> {
  const { open, ...size } = await rasterize(image)
  return { image: open(), ...size }
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

/** Averages blocks of `block` pixels per side. */
export async function pixelate(stage: Stage, block: number): Promise<Stage> {
  const { width, height } = stage
  const { image } = await render(stage)
  const blocks = await render({
    image: image.resize(Math.ceil(width / block), Math.ceil(height / block), {
      fit: 'fill',
      kernel: 'linear',
    }),
  })
  return { ...stage, image: blocks.image.resize(width, height, { fit: 'fill', kernel: 'nearest' }) }
}

/** Removes colours. Goes through a file, because sharp drops the alpha channel of raw gray pixels. */
export async function toGray({ image }: Stage): Promise<Stage> {
  return render({ image: sharp(await image.toColourspace('b-w').png({ compressionLevel: 0 }).toBuffer()) })
}

/** Puts a colour, which may be translucent, behind each frame of the image. */
export function fillBackground({ image, width, height }: Stage, background: Colour): Stage {
  const create = { width, height, channels: 4 as const, background }
  const overlays: OverlayOptions[] = [
    { input: { create }, blend: 'dest-over', tile: true, gravity: 'northwest' },
  ]
  image.composite(overlays)
  if (background.alpha === 1) image.removeAlpha()
  return { image, width, height, overlays }
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
  const { image } = await render(stage)
  if (background.alpha < 1) image.ensureAlpha()
  image.extend({
    left,
    top,
    right: width - stage.width - left,
    bottom: height - stage.height - top,
    background,
  })
  return { image, width, height }
}

/** Makes the corners transparent. */
export async function roundCorners(stage: Stage, radius: number | 'max'): Promise<Stage> {
  const { image, width, height } = await render(stage)
  const corner = radius === 'max' ? Math.min(width, height) / 2 : radius
  const mask = `<svg width="${width}" height="${height}"><rect width="${width}" height="${height}" rx="${corner}" ry="${corner}"/></svg>`
  image.ensureAlpha().composite([{ input: Buffer.from(mask), blend: 'dest-in' }])
  return render({ image })
}

export interface WatermarkSource {
  readonly source: Source
  readonly place: WatermarkPlacement
}

/** Puts a watermark on each frame, scaled down to fit between the margins. */
export async function addWatermark(
  stage: Stage,
  { source, place }: WatermarkSource,
  isAnimated: boolean,
): Promise<Stage> {
  const { width, height } = stage
  const margin = Math.round((width * place.margin) / 100)
  const room = (side: number): number => Math.max(1, side - 2 * margin)
  const watermark = await openForDisplay(source)
  const { data, info } = await watermark
    .autoOrient()
    .resize({
      width: Math.min(room(width), Math.max(1, Math.round((width * place.width) / 100))),
      height: room(height),
      fit: 'inside',
    })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  for (let alpha = 3; alpha < data.length; alpha += 4) {
    data[alpha] = Math.round(((data[alpha] ?? 0) * place.opacity) / 100)
  }
  const overlay = {
    input: data,
    raw: { width: info.width, height: info.height, channels: info.channels },
    left: offset(place.at, 'w', 'e', width - info.width, margin),
    top: offset(place.at, 'n', 's', height - info.height, margin),
  }
  if (!isAnimated) return { image: (await render(stage)).image.composite([overlay]), width, height }
  // An overlay of the size of a frame, tiled down the strip of frames, covers each of them.
  const frame = await sharp({ create: { width, height, channels: 4, background: TRANSPARENT } })
    .composite([overlay])
    .png()
    .toBuffer()
  const overlays: OverlayOptions[] = [
    ...(stage.overlays ?? []),
    { input: frame, tile: true, gravity: 'northwest' },
  ]
  return { ...stage, image: stage.image.composite(overlays), overlays }
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
