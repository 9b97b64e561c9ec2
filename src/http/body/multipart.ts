import { decodeBase64 } from '../../lib/base64.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { bytesOrNot, UNPARSABLE } from './fields.ts'
import type { BodyField, BodyFields, BodyOptions, ParsedBody } from './fields.ts'
import { headerParameters, mediaType } from './content-headers.ts'

// No endpoint accepts more than a few parts.
const MAX_PARTS = 32
const MAX_HEADER_BYTES = 8192
const MAX_NAME_CHARACTERS = 256
// RFC 2046 allows 70; some clients exceed that.
const MAX_BOUNDARY_CHARACTERS = 200

interface Part {
  name: string
  field: BodyField
}
type Headers = Map<string, string>

function parseHeaders(block: string): Headers | undefined {
  const headers: Headers = new Map()
  // No client folds lines (RFC 822): a line that starts with white space is a malformed header.
  for (const line of block.split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name) || /[\r\n\0]/.test(line)) return undefined
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return headers
}

/** A part with a file name or a type other than text is a file. Tools add `text/plain` and JSON types to plain fields, too. */
function isFile(filename: string | undefined, mime: string | undefined): boolean {
  if (filename !== undefined) return true
  return mime !== undefined && !mime.startsWith('text/') && mime !== 'application/json'
}

function fileField(bytes: Buffer, filename: string | undefined, mime: string | undefined): BodyField {
  return {
    kind: 'bytes',
    bytes,
    ...(filename !== undefined && { filename }),
    ...(mime !== undefined && { mime }),
  }
}

function parsePart(bytes: Buffer, options: BodyOptions): Part | undefined {
  const headerEnd = bytes.subarray(0, MAX_HEADER_BYTES + 4).indexOf('\r\n\r\n')
  const block = headerEnd === -1 ? undefined : decodeUtf8(bytes.subarray(0, headerEnd))
  const headers = block === undefined ? undefined : parseHeaders(block)
  const disposition = headers?.get('content-disposition')
  if (headers === undefined || disposition === undefined || mediaType(disposition) !== 'form-data')
    return undefined
  const parameters = headerParameters(disposition)
  const name = parameters?.get('name')
  if (name === undefined || name.length > MAX_NAME_CHARACTERS) return undefined

  const content = bytes.subarray(headerEnd + 4)
  const filename = parameters?.get('filename')
  const mime = mediaType(headers.get('content-type') ?? '') || undefined
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase() ?? 'binary'
  // RFC 7578 deprecates this header, but old libraries send files as base64.
  const isBase64 = encoding === 'base64'
  if (!isBase64 && encoding !== 'binary' && encoding !== '8bit' && encoding !== '7bit') return undefined

  if (isFile(filename, mime)) {
    const file = isBase64 ? decodeBase64(content) : content
    return { name, field: file === undefined ? { kind: 'not-base64' } : fileField(file, filename, mime) }
  }
  if (options.base64?.includes(name)) return { name, field: bytesOrNot(decodeBase64(content)) }
  const encoded = isBase64 ? decodeBase64(content) : content
  const value = encoded === undefined ? undefined : decodeUtf8(encoded)
  return value === undefined ? undefined : { name, field: { kind: 'text', value } }
}

interface Delimiter {
  readonly start: number
  readonly end: number
  readonly isLast: boolean
}

/** Returns the delimiter at `start`, whose dashes and boundary end at `end`; undefined if other text follows on the line. */
function delimiterAt(body: Buffer, start: number, end: number): Delimiter | undefined {
  if (body[end] === 0x2d && body[end + 1] === 0x2d) return { start, end: end + 2, isLast: true }
  let at = end
  while (body[at] === 0x20 || body[at] === 0x09) at++
  return body[at] === 0x0d && body[at + 1] === 0x0a ? { start, end: at + 2, isLast: false } : undefined
}

/**
 * Finds the next delimiter line at or after `from`. A line that merely starts like one is content: in nested multiparts one boundary
 * may be a prefix of another.
 */
function nextDelimiter(body: Buffer, marker: Buffer, from: number): Delimiter | undefined {
  for (let start = body.indexOf(marker, from); start !== -1; start = body.indexOf(marker, start + 2)) {
    const delimiter = delimiterAt(body, start, start + marker.length)
    if (delimiter !== undefined) return delimiter
  }
  return undefined
}

/** Finds the first delimiter, which has no line break before it unless there is a preamble. */
function firstDelimiter(body: Buffer, marker: Buffer): Delimiter | undefined {
  const length = marker.length - 2
  const opening = body.subarray(0, length).equals(marker.subarray(2))
    ? delimiterAt(body, 0, length)
    : undefined
  return opening ?? nextDelimiter(body, marker, 0)
}

function toBoundary(contentType: string): string | undefined {
  const boundary = headerParameters(contentType)?.get('boundary')
  if (boundary === undefined || boundary.length > MAX_BOUNDARY_CHARACTERS) return undefined
  return /^[\x20-\x7e]*[\x21-\x7e]$/.test(boundary) ? boundary : undefined
}

/**
 * Parses `multipart/form-data` (RFC 7578): at most 32 parts with headers of at most 8 KiB each, complete up to the closing
 * delimiter. Parts are views on the body: nothing is copied.
 */
export function parseMultipart(contentType: string, body: Buffer, options: BodyOptions): ParsedBody {
  const boundary = toBoundary(contentType)
  if (boundary === undefined) return UNPARSABLE
  const fields: BodyFields = new Map()
  const marker = Buffer.from(`\r\n--${boundary}`, 'latin1')
  let parts = 0
  for (let delimiter = firstDelimiter(body, marker); delimiter !== undefined;) {
    if (delimiter.isLast) return { ok: true, fields }
    if (++parts > MAX_PARTS) return UNPARSABLE
    // The line break after a delimiter may start the next one: an empty part, rejected because it has no headers.
    const next = nextDelimiter(body, marker, delimiter.end - 2)
    if (next === undefined) return UNPARSABLE
    const part = parsePart(body.subarray(delimiter.end, next.start), options)
    if (part === undefined) return UNPARSABLE
    fields.set(part.name, part.field)
    delimiter = next
  }
  return UNPARSABLE
}
