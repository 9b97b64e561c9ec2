import { isUtf8 } from 'node:buffer'

/**
 * The text that `bytes` hold, or `undefined` where they are not valid UTF-8. Nothing is replaced and a byte order mark
 * stays: what was sent is what comes back.
 */
export function decodeUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/**
 * Whether every database of ours stores `text` and gives it back to the letter: not U+0000, which PostgreSQL's text does
 * not hold, and not half a surrogate pair, which UTF-8 cannot express.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Whether `text` has at most so many characters: code points, as JSON Schema counts them. A long text is not walked through. */
export function fits(text: string, characters: number): boolean {
  if (text.length <= characters || text.length > 2 * characters) return text.length <= characters
  return [...text].length <= characters
}

/**
 * How much of a large text goes through a string at a time. Pieces that fit the processor's cache are three times as
 * fast as a string of megabytes. A multiple of 4, for base64.
 */
export const pieceOctets = 65_536

/**
 * A copy of `bytes` with each match of `pattern` (global, of Latin-1 characters) replaced by a text that is not longer
 * than the match. Piece by piece: a match that begins with `lead` is not cut, other matches must be one octet long or
 * such that cutting one does not matter.
 */
export function replaceOctets(bytes: Buffer, pattern: RegExp, replacement: string, lead?: number): Buffer {
  const result = Buffer.allocUnsafeSlow(bytes.length)
  let length = 0
  for (let start = 0; start < bytes.length;) {
    let end = Math.min(start + pieceOctets, bytes.length)
    if (end < bytes.length && bytes[end - 1] === lead) end--
    length += result.write(
      bytes.toString('latin1', start, end).replace(pattern, replacement),
      length,
      'latin1',
    )
    start = end
  }
  return result.subarray(0, length)
}
