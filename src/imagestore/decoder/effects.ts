import sharp, { type OverlayOptions } from 'sharp'
import { MAX_SIDE, type SettledPlan } from '../links/modifiers/plan.ts'
import type { Size } from './geometry.ts'
import { settled, type Stage } from './stage.ts'

interface Colour {
  readonly r: number
  readonly g: number
  readonly b: number
  /** 0 to 1. */
  readonly alpha: number
}

const CLEAR: Colour = { r: 0, g: 0, b: 0, alpha: 0 }
const WHITE: Colour = { r: 255, g: 255, b: 255, alpha: 1 }

/** Averages blocks of `block` pixels a side. */
export async function pixelated(stage: Stage, block: number): Promise<Stage> {
  const { width, height } = stage
  const whole = await settled(stage)
  const blocks = await settled({
    image: whole.image.resize(Math.ceil(width / block), Math.ceil(height / block), {
      fit: 'fill',
      kernel: 'linear',
    }),
  })
  return { ...stage, image: blocks.image.resize(width, height, { fit: 'fill', kernel: 'nearest' }) }
}

/** The background of the output: what the plan says, on white where the format knows no transparency. */
export function backgroundOf({ background }: SettledPlan, opaque: boolean): Colour | undefined {
  if (background === null) return opaque ? WHITE : undefined
  const [r = 0, g = 0, b = 0, a = 0] = Buffer.from(background, 'hex')
  const alpha = a / 255
  if (!opaque) return { r, g, b, alpha }
  const onWhite = (sample: number): number => Math.round(sample * alpha + 255 * (1 - alpha))
  return { r: onWhite(r), g: onWhite(g), b: onWhite(b), alpha: 1 }
}

/** Takes the colours away. By way of a file: of raw gray pixels the library drops alpha. */
export async function grayed({ image }: Stage): Promise<Stage> {
  return settled({ image: sharp(await image.toColourspace('b-w').png({ compressionLevel: 0 }).toBuffer()) })
}

export const isColourless = (background: Colour | undefined): boolean =>
  background === undefined || (background.r === background.g && background.g === background.b)

/** Lays the image, each frame of it, on a colour that may be translucent itself. */
export function laidOn({ image, width, height }: Stage, background: Colour): Stage {
  const create = { width, height, channels: 4 as const, background }
  const overlays: OverlayOptions[] = [
    { input: { create }, blend: 'dest-over', tile: true, gravity: 'northwest' },
  ]
  image.composite(overlays)
  if (background.alpha === 1) image.removeAlpha()
  return { image, width, height, overlays }
}

/** Centers the image on the canvas and adds the border, both in the background colour. */
export async function framed(
  stage: Stage,
  canvas: Size,
  plan: SettledPlan,
  background: Colour = CLEAR,
): Promise<Stage> {
  const border = Math.min(plan.pad, Math.floor((MAX_SIDE - Math.max(canvas.width, canvas.height)) / 2))
  const width = canvas.width + border * 2
  const height = canvas.height + border * 2
  if (width === stage.width && height === stage.height) return stage
  const left = Math.floor((width - stage.width) / 2)
  const top = Math.floor((height - stage.height) / 2)
  const { image } = await settled(stage)
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

/** Cuts the corners to transparency. */
export async function rounded(stage: Stage, radius: number | 'max'): Promise<Stage> {
  const { image, width, height } = await settled(stage)
  const corner = radius === 'max' ? Math.min(width, height) / 2 : radius
  const mask = `<svg width="${width}" height="${height}"><rect width="${width}" height="${height}" rx="${corner}" ry="${corner}"/></svg>`
  image.ensureAlpha().composite([{ input: Buffer.from(mask), blend: 'dest-in' }])
  return settled({ image })
}
