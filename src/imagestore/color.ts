import { thumbHashToAverageRGBA } from 'thumbhash'

const hex = (value: number) => Math.round(value).toString(16).padStart(2, '0')

/** @param rgb from 0 to 255 */
export const toColor = (...rgb: readonly [red: number, green: number, blue: number]): string =>
  `#${rgb.map(hex).join('')}`

/** The mean colour that a ThumbHash holds, of images that were stored without one. It differs by a few levels. */
export function colorOf(thumbhash: string | null): string | null {
  if (thumbhash === null) return null
  const { r, g, b, a } = thumbHashToAverageRGBA(Buffer.from(thumbhash, 'base64'))
  return a === 0 ? null : toColor(255 * r, 255 * g, 255 * b)
}

/** 1 for colours whose luma (ITU-R 601) is in the lower half. */
export function isDark(color: string | null): 0 | 1 | null {
  if (color === null) return null
  const [red = 0, green = 0, blue = 0] = Buffer.from(color.slice(1), 'hex')
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128 ? 1 : 0
}
