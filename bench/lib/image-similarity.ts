/** Raw interleaved samples of two pictures of the same size, with three channels. */
export interface Pair {
  readonly original: Uint8Array
  readonly copy: Uint8Array
  readonly width: number
  readonly height: number
}

/** Side and step of the compared windows, in pixels. */
const WINDOW = 8
const STEP = 4
/** (0.01 · 255)² and (0.03 · 255)², from the paper (Wang et al., 2004). */
const STEADY_MEAN = 6.5025
const STEADY_VARIANCE = 58.5225

/** Peak signal-to-noise ratio over all samples, in decibels. */
export function psnr({ original, copy }: Pair): number {
  let sum = 0
  for (let i = 0; i < original.length; i++) sum += ((original[i] ?? 0) - (copy[i] ?? 0)) ** 2
  return 10 * Math.log10((255 * 255 * original.length) / sum)
}

/** Mean structural similarity of the luma: 1 for equal pictures. */
export function ssim({ original, copy, width, height }: Pair): number {
  const one = luma(original)
  const other = luma(copy)
  let sum = 0
  let windows = 0
  for (let top = 0; top + WINDOW <= height; top += STEP) {
    for (let left = 0; left + WINDOW <= width; left += STEP) {
      sum += windowLikeness(one, other, width, left, top)
      windows++
    }
  }
  return sum / windows
}

function windowLikeness(one: Float64Array, other: Float64Array, width: number, left: number, top: number) {
  let [x, y, xx, yy, xy] = [0, 0, 0, 0, 0]
  for (let row = top; row < top + WINDOW; row++) {
    for (let at = row * width + left, end = at + WINDOW; at < end; at++) {
      const a = one[at] ?? 0
      const b = other[at] ?? 0
      x += a
      y += b
      xx += a * a
      yy += b * b
      xy += a * b
    }
  }
  const count = WINDOW * WINDOW
  const [meanX, meanY] = [x / count, y / count]
  const variances = xx / count - meanX * meanX + (yy / count - meanY * meanY)
  const shared = xy / count - meanX * meanY
  return (
    ((2 * meanX * meanY + STEADY_MEAN) * (2 * shared + STEADY_VARIANCE)) /
    ((meanX * meanX + meanY * meanY + STEADY_MEAN) * (variances + STEADY_VARIANCE))
  )
}

function luma(rgb: Uint8Array): Float64Array {
  return Float64Array.from(
    { length: rgb.length / 3 },
    (_, i) => 0.299 * (rgb[i * 3] ?? 0) + 0.587 * (rgb[i * 3 + 1] ?? 0) + 0.114 * (rgb[i * 3 + 2] ?? 0),
  )
}
