import type { Pixels } from '../../lib/perceptual-hash/index.ts'
import type { Size } from './stage.ts'

/** Samples that one output sample of Catmull-Rom depends on. */
const TAPS = 4

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

/** Where each output sample lies between its four input samples, whose positions are clamped to the edges. */
function catmullRom(from: number, to: number): { readonly at: Int32Array; readonly weights: Float32Array } {
  const at = new Int32Array(to * TAPS)
  const weights = new Float32Array(to * TAPS)
  for (let i = 0; i < to; i++) {
    // The centre of the output pixel, in input pixels.
    const centre = ((i + 0.5) * from) / to - 0.5
    const first = Math.floor(centre)
    const t = centre - first
    const values = [
      ((2 - t) * t - 1) * t * 0.5,
      ((3 * t - 5) * t * t + 2) * 0.5,
      ((4 - 3 * t) * t + 1) * t * 0.5,
      (t - 1) * t * t * 0.5,
    ]
    for (let k = 0; k < TAPS; k++) {
      at[i * TAPS + k] = Math.min(from - 1, Math.max(0, first - 1 + k))
      weights[i * TAPS + k] = values[k] ?? 0
    }
  }
  return { at, weights }
}

/**
 * Catmull-Rom interpolation of samples at the centres of pixels, as browsers enlarge. libvips 8.18 takes them half an
 * output pixel off, which shows against the original.
 */
export function enlargePixels(pixels: Pixels, { width, height }: Size): Pixels {
  const { channels } = pixels
  const alpha = alphaIndex(pixels)
  const across = catmullRom(pixels.width, width)
  const down = catmullRom(pixels.height, height)
  const data = Buffer.allocUnsafeSlow(width * height * channels)
  const rowSamples = width * channels
  const mixed = new Float32Array(rowSamples)
  const rows = new Map<number, Float32Array>()
  for (let y = 0; y < height; y++) {
    const needed = down.at.subarray(y * TAPS, (y + 1) * TAPS)
    for (const row of rows.keys()) if (!needed.includes(row)) rows.delete(row)
    mixed.fill(0)
    needed.forEach((row, k) => {
      const enlarged = rows.get(row) ?? enlargeRow(pixels, row, across, width)
      rows.set(row, enlarged)
      const weight = down.weights[y * TAPS + k] ?? 0
      for (let i = 0; i < rowSamples; i++) mixed[i] = (mixed[i] ?? 0) + (enlarged[i] ?? 0) * weight
    })
    for (let at = 0; at < rowSamples; at += channels) {
      const opacity = alpha === undefined ? 255 : (mixed[at + alpha] ?? 0)
      const scale = opacity < 0.5 ? 0 : 255 / opacity
      for (let c = 0; c < channels; c++)
        data[y * rowSamples + at + c] = clamp((mixed[at + c] ?? 0) * (c === alpha ? 1 : scale))
    }
  }
  return { data, width, height, channels }
}

const clamp = (value: number): number => (value <= 0 ? 0 : value >= 255 ? 255 : Math.round(value))

/** One row of the input in the width of the output, colours multiplied by alpha. */
function enlargeRow(
  pixels: Pixels,
  row: number,
  { at, weights }: ReturnType<typeof catmullRom>,
  width: number,
): Float32Array {
  const { data, channels } = pixels
  const alpha = alphaIndex(pixels)
  const start = row * pixels.width * channels
  const enlarged = new Float32Array(width * channels)
  for (let x = 0; x < width; x++) {
    for (let k = x * TAPS; k < (x + 1) * TAPS; k++) {
      const from = start + (at[k] ?? 0) * channels
      const weight = weights[k] ?? 0
      const opacity = alpha === undefined ? 1 : (data[from + alpha] ?? 0) / 255
      for (let c = 0; c < channels; c++) {
        const i = x * channels + c
        enlarged[i] = (enlarged[i] ?? 0) + (data[from + c] ?? 0) * weight * (c === alpha ? 1 : opacity)
      }
    }
  }
  return enlarged
}

/** Applies a function to the colours of all pixels. */
function mapColours(pixels: Pixels, change: (sample: number) => number): Pixels {
  const { data, channels } = pixels
  const alpha = alphaIndex(pixels)
  const table = Uint8Array.from({ length: 256 }, (_, sample) => clamp(change(sample)))
  for (let i = 0; i < data.length; i++) if (i % channels !== alpha) data[i] = table[data[i] ?? 0] ?? 0
  return pixels
}

/** `brightness()` of CSS (Filter Effects, 13.4). Pixels are changed in place, here and below. */
export const brighten = (pixels: Pixels, factor: number): Pixels =>
  mapColours(pixels, (sample) => sample * factor)

/** `contrast()` of CSS. */
export const stretchContrast = (pixels: Pixels, factor: number): Pixels =>
  mapColours(pixels, (sample) => (sample - 127.5) * factor + 127.5)

/** `saturate()` of CSS: each colour moves from, or towards, the gray of its luminance. */
export function saturate(pixels: Pixels, factor: number): Pixels {
  const { data, channels } = pixels
  if (channels < 3) return pixels
  for (let at = 0; at < data.length; at += channels) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3)
    const gray = 0.213 * red + 0.715 * green + 0.072 * blue
    data[at] = clamp(gray + (red - gray) * factor)
    data[at + 1] = clamp(gray + (green - gray) * factor)
    data[at + 2] = clamp(gray + (blue - gray) * factor)
  }
  return pixels
}
