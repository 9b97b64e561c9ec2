import type { Pixels } from './dhash.ts'

/** 16-bit gray as Pillow takes it to 8 bits: values past 255 are white. */
export function clipGray(samples: Uint16Array): Uint8Array {
  return Uint8Array.from(samples, (sample) => (sample > 255 ? 255 : sample))
}

/** 16-bit gray as a person sees it. */
export function upperBytes(samples: Uint16Array): Uint8Array {
  return Uint8Array.from(samples, (sample) => sample >> 8)
}

/** a * b / 255, rounded, in integers. */
function multiply(a: number, b: number): number {
  const product = a * b + 128
  return ((product >> 8) + product) >> 8
}

/** CMYK (0 no ink) to RGB as Pillow does it: no colour management. In place: the fourth byte of each pixel stays as it was. */
export function cmykToRgb(data: Uint8Array): void {
  for (let at = 0; at + 3 < data.length; at += 4) {
    const light = 255 - (data[at + 3] ?? 0)
    for (let i = at; i < at + 3; i++) data[i] = Math.max(0, light - multiply(data[i] ?? 0, light))
  }
}

/** Checks that raw output has the shape it says it has. */
export function asPixels(data: Uint8Array, width: number, height: number, channels: number): Pixels {
  if (channels !== 1 && channels !== 2 && channels !== 3 && channels !== 4) {
    throw new RangeError(`${channels} channels`)
  }
  if (data.length < width * height * channels) throw new RangeError('raw output is short')
  return { data, width, height, channels }
}
