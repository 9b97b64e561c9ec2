import type { Sharp } from 'sharp'
import type { Pixels } from '../../lib/perceptual-hash/index.ts'

/** Index of the alpha channel; undefined if there is none. */
const alphaIndex = ({ channels }: Pixels): number | undefined =>
  channels % 2 === 0 ? channels - 1 : undefined

/** Replaces blocks of `block` pixels a side by their mean colour. Those at the right and bottom edge may be smaller. */
export function averageBlocks(pixels: Pixels, block: number): Pixels {
  const { width, height } = pixels
  for (let top = 0; top < height; top += block) {
    for (let left = 0; left < width; left += block)
      averageBlock(pixels, left, top, Math.min(width, left + block), Math.min(height, top + block))
  }
  return pixels
}

/** Colours are weighted by alpha: what is invisible has none. */
function averageBlock(pixels: Pixels, left: number, top: number, right: number, bottom: number): void {
  const { data, width, channels } = pixels
  const alpha = alphaIndex(pixels)
  const sums = [0, 0, 0, 0]
  let weights = 0
  for (let y = top; y < bottom; y++) {
    for (let at = (y * width + left) * channels; at < (y * width + right) * channels; at += channels) {
      const weight = alpha === undefined ? 1 : (data[at + alpha] ?? 0)
      weights += weight
      for (let c = 0; c < channels; c++)
        if (c !== alpha) sums[c] = (sums[c] ?? 0) + (data[at + c] ?? 0) * weight
    }
  }
  const mean = sums.map((sum) => (weights === 0 ? 0 : Math.round(sum / weights)))
  if (alpha !== undefined) mean[alpha] = Math.round(weights / ((right - left) * (bottom - top)))
  for (let y = top; y < bottom; y++) {
    for (let at = (y * width + left) * channels; at < (y * width + right) * channels; at += channels)
      for (let c = 0; c < channels; c++) data[at + c] = mean[c] ?? 0
  }
}

/** Makes libvips round, which drops the fraction of a sample. */
const ROUNDING = 0.5

/** `brightness()` of CSS (Filter Effects, 13.4). */
export const brighten = (image: Sharp, factor: number): Sharp => image.linear(factor, ROUNDING)

/** `contrast()` of CSS. */
export const stretchContrast = (image: Sharp, factor: number): Sharp =>
  image.linear(factor, 127.5 * (1 - factor) + ROUNDING)

/** `saturate()` of CSS: each colour moves from, or towards, the gray of its luminance. */
export function saturate(image: Sharp, factor: number): Sharp {
  const rest = 1 - factor
  const [red, green, blue] = [0.213 * rest, 0.715 * rest, 0.072 * rest]
  return image
    .recomb([
      [red + factor, green, blue],
      [red, green + factor, blue],
      [red, green, blue + factor],
    ])
    .linear(1, ROUNDING)
}
