const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** So many octets are looked at one by one before the native search, which costs some 100 ns a call, goes on. */
const nearOctets = 64

/** The contents of a string, without its quotes. */
export type StringSlice = { start: number; end: number; escapes: boolean }

/**
 * Where the string whose contents start at `start` ends (the index of its closing quote), as -1 - index if it has escapes:
 * there may be a million strings in a body, too many for a result object each. `bytes.length` where it has no end.
 */
function stringEnd(bytes: Buffer, start: number): number {
  let escapes = false
  let reach = nearOctets
  // Invariant: `at` is never between a backslash and what it escapes.
  for (let at = start; at < bytes.length;) {
    const near = Math.min(at + reach, bytes.length)
    while (at < near) {
      const octet = bytes[at]
      if (octet === quote) return escapes ? -1 - at : at
      if (octet === backslash) {
        escapes = true
        at++
      }
      at++
    }
    const end = bytes.indexOf(quote, at)
    if (end === -1) break
    let run = end
    while (run > at && bytes[run - 1] === backslash) run--
    if ((end - run) % 2 === 0) return escapes || bytes.subarray(at, end).includes(backslash) ? -1 - end : end
    // JSON within JSON has an escaped quote every few octets: there the native search only costs.
    escapes = true
    reach *= 4
    at = end + 1
  }
  return bytes.length
}

/**
 * The last value of each member of the top-level object that is named in `wanted`, where that value is a string.
 * Strings are delimited exactly as a parser does, all else is only counted: this does not validate, and JSON.parse has
 * the last word. `undefined`: a string has no end, or the text is nested deeper than `maxDepth`.
 */
export function scanJson(
  bytes: Buffer,
  wanted: readonly string[],
  maxDepth: number,
): Map<string, StringSlice> | undefined {
  const slices = new Map<string, StringSlice>()
  let depth = 0
  let name: string | undefined
  let isValue = false
  let escapedNames = false
  for (let at = 0; at < bytes.length; at++) {
    const octet = bytes[at]
    if (octet === quote) {
      const start = at + 1
      const found = stringEnd(bytes, start)
      const escapes = found < 0
      at = escapes ? -1 - found : found
      if (at >= bytes.length) return undefined
      if (depth !== 1) continue
      if (isValue) {
        if (name !== undefined) slices.set(name, { start, end: at, escapes })
        continue
      }
      const length = at - start
      name = wanted.find(
        (each) => each.length === length && bytes.toString('latin1', start, start + length) === each,
      )
      // Whatever follows replaces an earlier value of this name.
      if (name !== undefined) slices.delete(name)
      escapedNames ||= escapes
    } else if (octet === openBrace || octet === openBracket) {
      if (++depth > maxDepth) return undefined
    } else if (octet === closeBrace || octet === closeBracket) depth--
    else if (depth === 1 && octet === colon) isValue = true
    else if (depth === 1 && octet === comma) isValue = false
  }
  // A name with escapes may be a wanted one in another spelling, and then it is unknown which is the last.
  return escapedNames ? new Map() : slices
}
