/** Byte order marks, and how a document in UTF-16 without one begins (XML 1.0, appendix F). */
const BEGINS: readonly (readonly [begin: string, encoding: string])[] = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
  ['<\0?\0', 'utf-16le'],
  ['\0<\0?', 'utf-16be'],
]
const DECLARATION = /^<\?xml\s[^>]*\?>/
const ENCODING = /\sencoding\s*=\s*["']([\w.:-]{1,40})["']/
const DECLARATION_BYTES = 512

/** The rasteriser's library takes for SVG only what names `<svg` near its begin, which one with a prefix need not do. */
const SIGN = '<!-- <svg as the library looks for it -->'
const SIGN_WITHIN = 512

/** The text of so many bytes at the begin of what may be an SVG; without a byte order mark. */
export function svgHead(bytes: Buffer, length: number): string {
  return new TextDecoder(beginOf(bytes)).decode(bytes.subarray(0, length))
}

/**
 * An SVG as the rasteriser takes it: in UTF-8, and signed. Most are already, and are not copied. Undefined for one that is not
 * in the encoding it says it is in.
 */
export function readableSvg(bytes: Buffer): Buffer | undefined {
  const declared = ENCODING.exec(DECLARATION.exec(svgHead(bytes, DECLARATION_BYTES))?.[0] ?? '')?.[1]
  // A mark counts more than a declaration, as in browsers.
  const encoding = beginOf(bytes) ?? declared?.toLowerCase() ?? 'utf-8'
  if (encoding === 'utf-8' && bytes.subarray(0, SIGN_WITHIN).includes('<svg')) return bytes
  const text = decoded(bytes, encoding)
  if (text === undefined) return undefined
  const declaration = DECLARATION.exec(text)?.[0] ?? ''
  return Buffer.from(declaration.replace(ENCODING, '') + SIGN + text.slice(declaration.length))
}

const beginOf = (bytes: Buffer): string | undefined => {
  const head = bytes.toString('latin1', 0, 4)
  return BEGINS.find(([begin]) => head.startsWith(begin))?.[1]
}

function decoded(bytes: Buffer, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (error) {
    // Half a character, or an encoding (RangeError) that nobody knows.
    if (error instanceof TypeError || error instanceof RangeError) return undefined
    throw error
  }
}
