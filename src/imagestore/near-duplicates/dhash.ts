/** A 64-bit hash in halves, which is how engines compute fast; an array of them holds the lower half first. */
export interface Dhash {
  readonly low: number
  readonly high: number
}

export const isDhash = (text: string): boolean => /^[0-9a-f]{16}$/.test(text)

/** @param text 16 lower-case hex digits */
export function parseDhash(text: string, at = 0): Dhash {
  return { high: half(text, at), low: half(text, at + 8) }
}

/** Digit by digit: of ten million hashes each part that is cut out would be a text of its own. */
function half(text: string, at: number): number {
  let value = 0
  for (let i = at; i < at + 8; i++) {
    const code = text.charCodeAt(i)
    value = (value << 4) | (code < 58 ? code - 48 : code - 87)
  }
  return value >>> 0
}

export const formatDhash = (high: number, low: number): string =>
  high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')

/** How many bits of 32 are 1. */
export function popcount(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  bits = (bits + (bits >>> 4)) & 0x0f0f0f0f
  return Math.imul(bits, 0x01010101) >>> 24
}
