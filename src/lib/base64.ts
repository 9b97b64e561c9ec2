import { pieceOctets, replaceOctets } from './text.ts'

const equals = 0x3d
const comma = 0x2c
const maxDataPrefix = 1024

function isWhiteSpace(octet: number | undefined): boolean {
  return octet === 0x20 || octet === 0x0a || octet === 0x0d || octet === 0x09 || octet === 0x0c
}

function trim(bytes: Buffer): Buffer {
  let start = 0
  let end = bytes.length
  while (start < end && isWhiteSpace(bytes[start])) start++
  while (end > start && isWhiteSpace(bytes[end - 1])) end--
  return bytes.subarray(start, end)
}

/** The length of the `data:…;base64,` (RFC 2397) that `bytes` begin with; 0 where they do not. */
export function dataPrefixLength(bytes: Buffer): number {
  if (bytes.toString('latin1', 0, 5).toLowerCase() !== 'data:') return 0
  const end = bytes.subarray(0, maxDataPrefix).indexOf(comma)
  return end !== -1 && bytes.toString('latin1', 0, end).toLowerCase().endsWith(';base64') ? end + 1 : 0
}

// Node decodes either alphabet under either name, but the one that it expects three times as fast.
function alphabetOf(bytes: Buffer): 'base64' | 'base64url' {
  const start = bytes.subarray(0, pieceOctets)
  return start.includes('-') || start.includes('_') ? 'base64url' : 'base64'
}

/**
 * Base64 (RFC 4648, standard or URL alphabet, padded or not) with no other octet in it, decoded; `undefined` for
 * anything else, the empty text included.
 *
 * Node's decoder skips what it does not know. Each foreign octet costs at least one octet of the result, so a result of
 * full length proves that there was none: the check is free.
 */
export function decodeCompactBase64(bytes: Buffer): Buffer | undefined {
  let end = bytes.length
  if (bytes[end - 1] === equals) end -= bytes[end - 2] === equals ? 2 : 1
  if (end <= 0 || end % 4 === 1 || (end !== bytes.length && bytes.length % 4 !== 0)) return undefined
  const alphabet = alphabetOf(bytes)
  const decoded = Buffer.allocUnsafeSlow(Math.floor((end * 3) / 4))
  let length = 0
  for (let start = 0; start < end; start += pieceOctets) {
    const stop = Math.min(start + pieceOctets, end)
    const expected = Math.floor(((stop - start) * 3) / 4)
    if (decoded.write(bytes.toString('latin1', start, stop), length, alphabet) !== expected) return undefined
    length += expected
  }
  return decoded
}

/**
 * Base64 as clients send it, decoded: white space anywhere and a `data:…;base64,` prefix are tolerated. `undefined` for
 * foreign characters, an impossible length, misplaced padding, and where nothing is left. Unused bits of the last
 * character need not be 0, and the two alphabets may mix: what they stand for is plain.
 */
export function decodeBase64(text: Buffer | string): Buffer | undefined {
  // UTF-8, not Latin-1: that would take `Ł` (U+0141) for `A`.
  const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : text
  const trimmed = trim(bytes)
  const body = trim(trimmed.subarray(dataPrefixLength(trimmed)))
  return decodeCompactBase64(body) ?? decodeCompactBase64(replaceOctets(body, /[ \t\n\f\r]+/g, ''))
}
