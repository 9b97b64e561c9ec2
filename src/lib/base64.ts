import { PIECE_BYTES, replaceBytes } from './text.ts'

const EQUALS = 0x3d
const COMMA = 0x2c
const MAX_DATA_PREFIX = 1024

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === 0x0c
}

function trim(bytes: Buffer): Buffer {
  let start = 0
  let end = bytes.length
  while (start < end && isWhiteSpace(bytes[start])) start++
  while (end > start && isWhiteSpace(bytes[end - 1])) end--
  return bytes.subarray(start, end)
}

/** The length of a `data:…;base64,` prefix (RFC 2397); 0 if there is none. */
export function dataPrefixLength(bytes: Buffer): number {
  if (bytes.toString('latin1', 0, 5).toLowerCase() !== 'data:') return 0
  const end = bytes.subarray(0, MAX_DATA_PREFIX).indexOf(COMMA)
  return end !== -1 && bytes.toString('latin1', 0, end).toLowerCase().endsWith(';base64') ? end + 1 : 0
}

// Node decodes both alphabets under both names, but the one it expects three times as fast.
function toAlphabet(bytes: Buffer): 'base64' | 'base64url' {
  const start = bytes.subarray(0, PIECE_BYTES)
  return start.includes('-') || start.includes('_') ? 'base64url' : 'base64'
}

/**
 * Decodes base64 (RFC 4648, standard or URL alphabet, padded or not) without white space. Undefined if it is invalid or empty.
 *
 * Node's decoder skips unknown bytes. Each costs at least one byte of the result, so a result of full length proves that
 * there was none.
 */
export function decodeCompactBase64(bytes: Buffer): Buffer | undefined {
  let end = bytes.length
  if (bytes[end - 1] === EQUALS) end -= bytes[end - 2] === EQUALS ? 2 : 1
  if (end <= 0 || end % 4 === 1 || (end !== bytes.length && bytes.length % 4 !== 0)) return undefined
  const alphabet = toAlphabet(bytes)
  const decoded = Buffer.allocUnsafeSlow(Math.floor((end * 3) / 4))
  let length = 0
  for (let start = 0; start < end; start += PIECE_BYTES) {
    const stop = Math.min(start + PIECE_BYTES, end)
    const expected = Math.floor(((stop - start) * 3) / 4)
    if (decoded.write(bytes.toString('latin1', start, stop), length, alphabet) !== expected) return undefined
    length += expected
  }
  return decoded
}

/**
 * Decodes base64 as clients send it: white space anywhere and a `data:…;base64,` prefix are tolerated, the two alphabets may be
 * mixed, and unused bits of the last character are ignored. Undefined for other characters, an impossible length, misplaced
 * padding or an empty text.
 */
export function decodeBase64(text: Buffer | string): Buffer | undefined {
  // Not Latin-1, which would turn `Ł` (U+0141) into `A`.
  const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : text
  const trimmed = trim(bytes)
  const body = trim(trimmed.subarray(dataPrefixLength(trimmed)))
  return decodeCompactBase64(body) ?? decodeCompactBase64(replaceBytes(body, /[ \t\n\f\r]+/g, ''))
}
