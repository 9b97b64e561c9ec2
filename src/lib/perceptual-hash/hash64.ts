/** A 64-bit hash in halves, on which engines compute fast. Arrays of hashes (`halves`) hold the low half first. */
export interface Hash64 {
  readonly low: number
  readonly high: number
}

export const isHash64 = (text: string): boolean => /^[0-9a-f]{16}$/.test(text)

/** @param text 16 lower-case hex digits at `at` */
export function parseHash64(text: string, at = 0): Hash64 {
  return { high: parseHalf(text, at), low: parseHalf(text, at + 8) }
}

/** Parses concatenated hashes of 16 hex digits into halves. */
export function unpackHashes(packed: string): Uint32Array {
  const halves = new Uint32Array(packed.length / 8)
  for (let at = 0, i = 0; at < packed.length; at += 16, i += 2) {
    halves[i] = parseHalf(packed, at + 8)
    halves[i + 1] = parseHalf(packed, at)
  }
  return halves
}

/** Digit by digit, because a substring for each half of ten million hashes would be garbage to collect. */
function parseHalf(text: string, at: number): number {
  let value = 0
  for (let i = at; i < at + 8; i++) {
    const code = text.charCodeAt(i)
    value = (value << 4) | (code < 58 ? code - 48 : code - 87)
  }
  return value >>> 0
}

export const formatHash64 = (high: number, low: number): string =>
  high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0')

/** The number of 1 bits in 32. */
export function popcount(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  bits = (bits + (bits >>> 4)) & 0x0f0f0f0f
  return Math.imul(bits, 0x01010101) >>> 24
}
