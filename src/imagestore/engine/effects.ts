import { MAX_SIDE, type SettledPlan } from '../modifiers/plan.ts'
import type { Size } from './geometry.ts'
import { settled, type Stage } from './stage.ts'

const CLEAR = '#00000000'
const WHITE = '#ffffffff'

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

/** Centers the image on the canvas and adds the border, both in the background colour. */
export async function framed(stage: Stage, canvas: Size, plan: SettledPlan, opaque: boolean): Promise<Stage> {
  const border = Math.min(plan.pad, Math.floor((MAX_SIDE - Math.max(canvas.width, canvas.height)) / 2))
  const width = canvas.width + border * 2
  const height = canvas.height + border * 2
  if (width === stage.width && height === stage.height) return stage
  const left = Math.floor((width - stage.width) / 2)
  const top = Math.floor((height - stage.height) / 2)
  const background = plan.background === null ? (opaque ? WHITE : CLEAR) : `#${plan.background}`
  const { image } = await settled(stage)
  image.ensureAlpha().extend({
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
