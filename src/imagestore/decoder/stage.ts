import sharp, { type OverlayOptions, type Sharp } from 'sharp'
import type { Size } from './geometry.ts'

/** A pipeline and the size of what it gives: one frame. */
export interface Stage extends Size {
  readonly image: Sharp
  /** What is laid over or under it when it runs: the library forgets earlier ones at each call. */
  readonly overlays?: readonly OverlayOptions[]
}

/** Runs the pipeline so far: a further step then starts from its pixels, in the order we say and not the library's own. */
export async function settled({ image }: Pick<Stage, 'image'>): Promise<Stage> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  return { image: sharp(data, { raw: { width, height, channels } }), width, height }
}
