// Bootstring with Punycode's parameters, RFC 3492 sections 5 and 6. Node's own `punycode` module is deprecated, and
// its `domainToASCII` is UTS #46, which maps far more (full-width forms, soft hyphens, `ß`) than .cl registers.
const base = 36
const tMin = 1
const tMax = 26
const skew = 38
const damp = 700
const initialBias = 72
const initialN = 0x80
const delimiter = '-'

/** The A-label of a .cl label with letters beyond ASCII: what the DNS carries. */
export const aLabelOf = (label: string): string => `xn--${encodePunycode(label)}`

const digits = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** All letters of .cl are in Latin-1. Rejecting larger code points prevents overflow and long loops. */
const maxCodePoint = 0xff

function adapt(delta: number, points: number, first: boolean): number {
  let rest = Math.floor(delta / (first ? damp : 2))
  rest += Math.floor(rest / points)
  let k = 0
  while (rest > ((base - tMin) * tMax) >> 1) {
    rest = Math.floor(rest / (base - tMin))
    k += base
  }
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + skew))
}

function threshold(k: number, bias: number): number {
  return Math.min(Math.max(k - bias, tMin), tMax)
}

function digitValue(code: number): number | undefined {
  if (code >= 0x61 && code <= 0x7a) return code - 0x61
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26
  return undefined
}

/** Encodes `label`, without the `xn--` prefix. Takes quadratic time, so callers limit the length (a label has at most 63 octets). */
export function encodePunycode(label: string): string {
  const points = Array.from(label, (character) => character.codePointAt(0) ?? 0)
  const basic = points.filter((point) => point < initialN)
  let output = String.fromCharCode(...basic)
  if (basic.length > 0) output += delimiter

  let n = initialN
  let delta = 0
  let bias = initialBias
  let handled = basic.length
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n))
    delta += (next - n) * (handled + 1)
    n = next
    for (const point of points) {
      if (point < n) delta++
      if (point !== n) continue
      let q = delta
      for (let k = base; ; k += base) {
        const t = threshold(k, bias)
        if (q < t) break
        output += digits.charAt(t + ((q - t) % (base - t)))
        q = Math.floor((q - t) / (base - t))
      }
      output += digits.charAt(q)
      bias = adapt(delta, handled + 1, handled === basic.length)
      delta = 0
      handled++
    }
    delta++
    n++
  }
  return output
}

/**
 * Decodes lower-case Punycode without the `xn--` prefix. Undefined if it is invalid or has a character beyond Latin-1. The
 * input need not be the canonical encoding of the result: callers encode it again and compare.
 */
export function decodePunycode(punycode: string): string | undefined {
  const split = punycode.lastIndexOf(delimiter)
  const points = Array.from(punycode.slice(0, Math.max(split, 0)), (character) => character.charCodeAt(0))
  if (points.some((point) => point >= initialN)) return undefined

  let n = initialN
  let i = 0
  let bias = initialBias
  let at = split > 0 ? split + 1 : 0
  while (at < punycode.length) {
    const before = i
    let weight = 1
    for (let k = base; ; k += base) {
      const digit = digitValue(punycode.charCodeAt(at++))
      if (digit === undefined) return undefined
      i += digit * weight
      if (i > (maxCodePoint + 1) * (points.length + 1)) return undefined
      const t = threshold(k, bias)
      if (digit < t) break
      weight *= base - t
    }
    const length = points.length + 1
    bias = adapt(i - before, length, before === 0)
    n += Math.floor(i / length)
    if (n > maxCodePoint) return undefined
    i %= length
    points.splice(i, 0, n)
    i++
  }
  return String.fromCharCode(...points)
}
