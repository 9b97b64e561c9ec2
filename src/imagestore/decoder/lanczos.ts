/** What one output sample of a resize takes from the input: `weights[i]` times the sample at `first + i`. */
export interface Taps {
  readonly first: number
  readonly weights: Int32Array
}

/** Fractional bits of a weight: what a 32-bit sum leaves beside 8 bits of result and 2 of overshoot. */
export const PRECISION_BITS = 32 - 8 - 2

const SUPPORT = 3

/** sinc(x) sinc(x/3) within ±3. One sine serves both: sin 3a = 3 sin a - 4 sin³ a. */
function lanczos(x: number): number {
  if (x < -SUPPORT || x >= SUPPORT) return 0
  if (x === 0) return 1
  const angle = (x * Math.PI) / SUPPORT
  const sine = Math.sin(angle)
  return (sine * sine * (3 - 4 * sine * sine)) / (SUPPORT * angle * angle)
}

/**
 * Weights of Pillow's 8-bit Lanczos resize from `from` to `to` samples. Every rounding step is part of the result:
 * floating point normalised first, then each weight to fixed point on its own.
 */
export function lanczosTaps(from: number, to: number): readonly Taps[] {
  const scale = from / to
  const filterScale = Math.max(scale, 1)
  const support = SUPPORT * filterScale
  const inverse = 1 / filterScale
  return Array.from({ length: to }, (_, index) => {
    const center = (index + 0.5) * scale
    const first = Math.max(0, Math.trunc(center - support + 0.5))
    const end = Math.min(from, Math.trunc(center + support + 0.5))
    const raw = new Float64Array(end - first)
    let sum = 0
    for (let i = 0; i < raw.length; i++) {
      const weight = lanczos((i + first - center + 0.5) * inverse)
      raw[i] = weight
      sum += weight
    }
    const weights = new Int32Array(raw.length)
    for (let i = 0; i < raw.length; i++) {
      const weight = ((raw[i] ?? 0) / (sum === 0 ? 1 : sum)) * (1 << PRECISION_BITS)
      // A 32-bit lane truncates toward zero, so this rounds half away from it.
      weights[i] = weight < 0 ? weight - 0.5 : weight + 0.5
    }
    return { first, weights }
  })
}
