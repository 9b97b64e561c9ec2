import { rgbaToThumbHash } from 'thumbhash'
import type { Pixels } from './dhash.ts'

/** The format takes no more a side. */
const MAX_SIDE = 100
/** What is larger is made this small: the hash keeps waves of a seventh of a side at most, and at 100 takes four times as long. */
const REDUCED_SIDE = 48
/** Samples of a cell, a side: more change nothing that the hash keeps, and would cost as much as decoding. */
const SAMPLES = 4

/**
 * The ThumbHash of a picture in base64: of its pixels where the format takes them, else of the means of cells.
 * @param hasAlpha whether a fourth (or second) channel is alpha
 */
export function thumbhash(pixels: Pixels, hasAlpha = true): string {
  const { width, height } = pixels
  const longest = Math.max(width, height)
  const scale = longest > MAX_SIDE ? REDUCED_SIDE / longest : 1
  const columns = Math.max(1, Math.round(width * scale))
  const rows = Math.max(1, Math.round(height * scale))
  const rgba = new Uint8Array(columns * rows * 4)
  const xs = places(width, columns)
  const ys = places(height, rows)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      mean(pixels, hasAlpha, xs[column] ?? [], ys[row] ?? [], rgba, (row * columns + column) * 4)
    }
  }
  return Buffer.from(rgbaToThumbHash(columns, rows, rgba)).toString('base64')
}

/** For each of `count` cells along a side, where its samples are. */
function places(size: number, count: number): number[][] {
  const step = size / count
  const each = Math.min(SAMPLES, Math.max(1, Math.round(step)))
  return Array.from({ length: count }, (_, cell) =>
    Array.from({ length: each }, (_, i) => Math.min(size - 1, Math.floor((cell + (i + 0.5) / each) * step))),
  )
}

/** Weighted by alpha: what is not seen has no colour. */
function mean(
  { data, width, channels }: Pixels,
  hasAlpha: boolean,
  xs: readonly number[],
  ys: readonly number[],
  target: Uint8Array,
  at: number,
): void {
  let [red, green, blue, alpha] = [0, 0, 0, 0]
  const isGray = channels < 3
  const alphaAt = hasAlpha && channels % 2 === 0 ? channels - 1 : undefined
  for (const y of ys) {
    for (const x of xs) {
      const from = (y * width + x) * channels
      const weight = alphaAt === undefined ? 255 : (data[from + alphaAt] ?? 0)
      const first = (data[from] ?? 0) * weight
      red += first
      green += isGray ? first : (data[from + 1] ?? 0) * weight
      blue += isGray ? first : (data[from + 2] ?? 0) * weight
      alpha += weight
    }
  }
  if (alpha === 0) return
  target[at] = Math.round(red / alpha)
  target[at + 1] = Math.round(green / alpha)
  target[at + 2] = Math.round(blue / alpha)
  target[at + 3] = Math.round(alpha / (xs.length * ys.length))
}
