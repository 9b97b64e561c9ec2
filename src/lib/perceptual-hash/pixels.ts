/** Interleaved 8-bit samples without padding between rows: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha. */
export interface Pixels {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
  readonly channels: 1 | 2 | 3 | 4
}

/** @throws RangeError if the data does not have this shape */
export function asPixels(data: Uint8Array, width: number, height: number, channels: number): Pixels {
  if (channels !== 1 && channels !== 2 && channels !== 3 && channels !== 4)
    throw new RangeError(`${channels} channels`)
  if (data.length < width * height * channels) throw new RangeError('too few samples')
  return { data, width, height, channels }
}

/** Converts 16-bit gray to 8 bits as Pillow does: values above 255 become white. */
export function clipGray(samples: Uint16Array): Uint8Array {
  return Uint8Array.from(samples, (sample) => (sample > 255 ? 255 : sample))
}

/** Converts 16-bit samples to 8 bits as they look. */
export function highBytes(samples: Uint16Array): Uint8Array {
  return Uint8Array.from(samples, (sample) => sample >> 8)
}

/**
 * Converts CMYK (0 means no ink) to RGB as Pillow does, without colour management. In place: every fourth byte
 * stays as it is.
 */
export function cmykToRgb(data: Uint8Array): void {
  for (let at = 0; at + 3 < data.length; at += 4) {
    const light = 255 - (data[at + 3] ?? 0)
    for (let i = at; i < at + 3; i++) data[i] = Math.max(0, light - multiply(data[i] ?? 0, light))
  }
}

/** a * b / 255, rounded, in integers. */
function multiply(a: number, b: number): number {
  const product = a * b + 128
  return ((product >> 8) + product) >> 8
}

/** ITU-R 601 luma in 16-bit fixed point, as Pillow rounds it. */
export const lumaOf = (red: number, green: number, blue: number): number =>
  (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >>> 16
