/** A `data:…;base64,` prefix (RFC 2397). */
const DATA_PREFIX = /^data:(?:[^,]{0,1000};)?base64,/i

/**
 * Decodes base64 (RFC 4648) as clients send it, padded or not: white space anywhere and a `data:…;base64,` prefix are tolerated, the
 * two alphabets may be mixed, and unused bits of the last character are ignored. Undefined for other characters, an impossible
 * length, misplaced padding or an empty text.
 */
export function decodeBase64(given: Buffer | string): Buffer | undefined {
  // Not a text as Latin-1, which would turn `Ł` (U+0141) into `A`.
  const bytes = typeof given === 'string' ? Buffer.from(given) : given
  const text = bytes
    .toString('latin1')
    .replaceAll(/[ \t\n\f\r]+/g, '')
    .replace(DATA_PREFIX, '')
  const [padding = ''] = /={0,2}$/.exec(text) ?? []
  const length = text.length - padding.length
  if (length === 0 || length % 4 === 1 || (padding !== '' && text.length % 4 !== 0)) return undefined
  const decoded = Buffer.allocUnsafeSlow(Math.floor((length * 3) / 4))
  // The decoder skips unknown bytes. Each costs at least one byte of the result.
  return decoded.write(text, 'base64') === decoded.byteLength ? decoded : undefined
}
