import { complete, type Structure } from './container.ts'

/** Encodings by first bytes: a byte order mark, or the start of an XML declaration in UTF-16 (XML 1.0, appendix F). */
const ENCODING_SIGNATURES: readonly (readonly [firstBytes: string, encoding: string])[] = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
  ['<\0?\0', 'utf-16le'],
  ['\0<\0?', 'utf-16be'],
]
const DECLARATION = /^<\?xml\s[^>]*\?>/
const ENCODING = /\sencoding\s*=\s*["']([\w.:-]{1,40})["']/
const DECLARATION_BYTES = 512
/** Longest prolog (byte order mark, XML declaration, comments, document type) that may precede the `svg` element. */
const PROLOG_BYTES = 64 * 1024

/** libvips recognises SVG by `<svg` near the start, which a document with a namespace prefix does not contain. */
const SNIFFER_HINT = '<!-- <svg as the library looks for it -->'
const SNIFFED_BYTES = 512

/**
 * Elements (with any prefix) that draw something repeatedly, through a filter or from elsewhere, so that few bytes cost much;
 * and style sheets whose text is not in the document itself.
 */
const EXPENSIVE =
  /<(?:[^\s<>/:]*:)?(?:use|pattern|filter|fe\w{1,32}|mask|image|marker)[\s>/]|<!ENTITY|<\?xml-stylesheet|@import/i
/** Longer documents are expensive without any of these. */
const SIMPLE_BYTES = 256 * 1024

const STYLE = /<(?:[^\s<>/:]*:)?style[\s>]/i
/** Selectors that look at all siblings of an element. */
const SIBLING_SELECTORS = /~|:nth-|-of-type|:has\(/i
/** Selectors of a style sheet times elements: as many take some 65 ms. */
const MAX_SIMPLE_MATCHES = 1_000_000

export function svgStructure(bytes: Buffer): Structure {
  if (bytes.length > SIMPLE_BYTES) return { ...complete, complex: true }
  const text = bytes.toString('latin1')
  return { ...complete, complex: EXPENSIVE.test(text) || hasExpensiveStyle(text) }
}

/** The renderer compares each selector with each element. */
function hasExpensiveStyle(text: string): boolean {
  const start = text.search(STYLE)
  if (start < 0) return false
  const end = text.lastIndexOf('style>')
  const sheets = text.slice(start, end > start ? end : undefined)
  const count = (all: string, pattern: RegExp) => all.match(pattern)?.length ?? 0
  return SIBLING_SELECTORS.test(sheets) || count(sheets, /[{,]/g) * count(text, /</g) > MAX_SIMPLE_MATCHES
}

/** True if the first element is `svg`. Skips the prolog construct by construct, because one pattern could backtrack forever. */
export function isSvg(bytes: Buffer): boolean {
  const text = decodeStart(bytes, PROLOG_BYTES)
  let at = 0
  while (at < text.length) {
    while (' \t\r\n'.includes(text.charAt(at) || 'x')) at++
    const end = prologConstructEnd(text, at)
    if (end === undefined) return /^<(?:[^\s<>/:]{1,256}:)?svg[\s>/]/.test(text.slice(at, at + 270))
    if (end < 0) return false
    at = end
  }
  return false
}

/** The end of the prolog construct at `at`: -1 if it is not closed, undefined if there is none. */
function prologConstructEnd(text: string, at: number): number | undefined {
  const after = (delimiter: string, from: number): number => {
    const found = text.indexOf(delimiter, from)
    return found < 0 ? -1 : found + delimiter.length
  }
  if (text.startsWith('<?', at)) return after('?>', at)
  if (text.startsWith('<!--', at)) return after('-->', at + 4)
  if (!text.startsWith('<!DOCTYPE', at)) return undefined
  const close = after('>', at)
  const subset = text.indexOf('[', at)
  if (subset < 0 || subset > close) return close
  const subsetEnd = after(']', subset)
  return subsetEnd < 0 ? -1 : after('>', subsetEnd)
}

/**
 * Converts an SVG to what libvips accepts: UTF-8, with `<svg` near the start. Returns most files as they are, without a
 * copy; undefined if the bytes do not match the declared encoding.
 */
export function normalizeSvg(bytes: Buffer): Buffer | undefined {
  const declared = ENCODING.exec(DECLARATION.exec(decodeStart(bytes, DECLARATION_BYTES))?.[0] ?? '')?.[1]
  // A byte order mark overrides the declaration, as in browsers.
  const encoding = toEncoding(bytes) ?? declared?.toLowerCase() ?? 'utf-8'
  if (encoding === 'utf-8' && bytes.subarray(0, SNIFFED_BYTES).includes('<svg')) return bytes
  const text = decode(bytes, encoding)
  if (text === undefined) return undefined
  const declaration = DECLARATION.exec(text)?.[0] ?? ''
  return Buffer.from(declaration.replace(ENCODING, '') + SNIFFER_HINT + text.slice(declaration.length))
}

/** The text of the first `length` bytes, without a byte order mark. */
const decodeStart = (bytes: Buffer, length: number): string =>
  new TextDecoder(toEncoding(bytes)).decode(bytes.subarray(0, length))

const toEncoding = (bytes: Buffer): string | undefined => {
  const head = bytes.toString('latin1', 0, 4)
  return ENCODING_SIGNATURES.find(([firstBytes]) => head.startsWith(firstBytes))?.[1]
}

function decode(bytes: Buffer, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (error) {
    // TypeError: invalid bytes. RangeError: unknown encoding.
    if (error instanceof TypeError || error instanceof RangeError) return undefined
    throw error
  }
}
