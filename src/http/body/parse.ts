import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Busboy } from '@fastify/busboy'
import { decodeBase64, decodeUtf8 } from '../../lib/bytes.ts'
import { isObject, parseJsonText } from '../../lib/json.ts'

/** Returns `type/subtype` of a Content-Type in lower case; `''` for an empty one. */
export function mediaType(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/**
 * Returns whether the body has a content or transfer coding that the service does not decode (RFC 9110, section
 * 8.4). Requests without a body may carry the header, too.
 */
export function isEncoded(headers: IncomingHttpHeaders): boolean {
  if (!hasBody(headers)) return false
  const codings = `${headers['transfer-encoding'] ?? ''},${headers['content-encoding'] ?? ''}`.split(',')
  return codings.some((coding) => !['', 'identity', 'chunked'].includes(coding.trim().toLowerCase()))
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * One field of a request body. `bytes` is a field that was decoded from base64, or an uploaded file. It may be a view on the body:
 * treat it as read-only, and copy it before transferring it to another thread.
 */
export type BodyField =
  | { readonly kind: 'text'; readonly value: string }
  /** A number, boolean, null, array or object of a JSON body. */
  | { readonly kind: 'json'; readonly value: unknown }
  | {
      readonly kind: 'bytes'
      readonly bytes: Buffer
      /** File name as the client sent it; only of a file part. */
      readonly filename?: string
      readonly mime?: string
    }
  /** A field that was to be decoded, whose text is not base64. */
  | { readonly kind: 'not-base64' }

/** By name. The last value of a repeated field counts. */
export type BodyFields = Map<string, BodyField>

function bytesOrNot(bytes: Buffer | undefined): BodyField {
  return bytes === undefined ? { kind: 'not-base64' } : { kind: 'bytes', bytes }
}

/** The JSON type of a value, in Spanish and with its article, to end a message: "debe ser un número, no un texto". */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'un arreglo'
  switch (typeof value) {
    case 'string':
      return 'un texto'
    case 'number':
      return 'un número'
    case 'boolean':
      return 'un valor lógico'
    default:
      return 'un objeto'
  }
}

type BodyKind = 'urlencoded' | 'multipart' | 'json'

const KINDS = new Map<string, BodyKind>([
  ['application/x-www-form-urlencoded', 'urlencoded'],
  ['multipart/form-data', 'multipart'],
  ['application/json', 'json'],
])

/** Returns the format of a `Content-Type`; undefined for an unsupported one (415). Ignores parameters such as `charset`. */
export const bodyKind = (contentType = ''): BodyKind | undefined => KINDS.get(mediaType(contentType))

/**
 * Parses the fields of a request body. Never rejects. Text is UTF-8 in every format, whatever `charset` says; a body with invalid
 * UTF-8 cannot be parsed, because a guess could store something else than what was sent.
 * @param base64 names of fields whose base64 text is decoded to bytes
 * @returns undefined if the body cannot be parsed, or its type is not supported
 */
export async function parseBody(
  contentType: string | undefined,
  bytes: Buffer,
  base64: readonly string[] = [],
): Promise<BodyFields | undefined> {
  switch (bodyKind(contentType)) {
    case 'urlencoded':
      return parseUrlencoded(bytes, base64)
    case 'multipart':
      return parseMultipart(contentType ?? '', bytes, base64)
    case 'json':
      return parseJsonBody(bytes, base64)
    case undefined:
      return undefined
  }
}

const BYTE_ORDER_MARK = '\ufeff'

/**
 * Parses `application/json` in UTF-8, with or without a byte order mark (RFC 8259, section 8.1), nested at most 512 deep. JSON other
 * than an object has no fields.
 */
function parseJsonBody(body: Buffer, base64: readonly string[]): BodyFields | undefined {
  if (!isUtf8(body)) return undefined
  const text = body.toString()
  const parsed = parseJsonText(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  if (parsed === undefined) return undefined
  const entries = isObject(parsed) ? Object.entries(parsed) : []
  return new Map(entries.map(([name, value]) => [name, toJsonField(value, base64.includes(name))]))
}

function toJsonField(value: unknown, isBase64: boolean): BodyField {
  if (typeof value !== 'string') return { kind: 'json', value }
  return isBase64 ? bytesOrNot(decodeBase64(value)) : { kind: 'text', value }
}

// No endpoint accepts more than a few; a million tiny pairs of an attacker would take seconds.
const MAX_PAIRS = 256

/** Returns undefined for invalid UTF-8. A percent sign without two hex digits is kept (WHATWG URL, "percent-decode"). */
function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    return undefined
  }
}

const decodeText = (text: string) => percentDecode(text.replaceAll('+', ' '))

/**
 * Decodes a base64 field. Some clients do not escape its `+`. Decoding that to a space, and then skipping white space, could yield
 * an image of the right length with wrong bytes. So an unescaped `+` is a plus sign if no other plus sign is escaped and the text is
 * valid base64 then; otherwise it is a space.
 */
function base64Field(text: string): BodyField {
  const decode = (decoded: string | undefined) => (decoded === undefined ? undefined : decodeBase64(decoded))
  const withPlus = text.includes('+') && !/%2b/i.test(text) ? decode(percentDecode(text)) : undefined
  return bytesOrNot(withPlus ?? decode(decodeText(text)))
}

/** Parses `application/x-www-form-urlencoded` (WHATWG URL) with at most 256 pairs. Skips empty pairs (`&&`). */
function parseUrlencoded(body: Buffer, base64: readonly string[]): BodyFields | undefined {
  if (!isUtf8(body)) return undefined
  const pairs = body
    .toString()
    .split('&', MAX_PAIRS + 1)
    .filter((pair) => pair !== '')
  if (pairs.length > MAX_PAIRS) return undefined
  const last = new Map<string, string>()
  for (const pair of pairs) {
    const cut = pair.indexOf('=')
    const name = decodeText(cut === -1 ? pair : pair.slice(0, cut))
    if (name === undefined) return undefined
    last.set(name, cut === -1 ? '' : pair.slice(cut + 1))
  }
  const fields: BodyFields = new Map()
  for (const [name, raw] of last) {
    if (base64.includes(name)) {
      fields.set(name, base64Field(raw))
      continue
    }
    const value = decodeText(raw)
    if (value === undefined) return undefined
    fields.set(name, { kind: 'text', value })
  }
  return fields
}

/** No endpoint accepts more than a few parts. */
const MULTIPART_LIMITS = { parts: 32, headerPairs: 16, headerSize: 8_192 }
/** RFC 7578 deprecates the others, but old libraries send files as base64. */
const ENCODINGS = ['7bit', '8bit', 'binary', 'base64']
/** Decoders replace invalid UTF-8 by this character. */
const REPLACEMENT = '\ufffd'

/** How browsers escape these three characters in a quoted name (WHATWG HTML, "multipart/form-data encoding algorithm"). */
const BROWSER_ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0d': '\r', '%0a': '\n' }

const unescapeName = (name: string) =>
  name.replace(/%(?:22|0d|0a)/gi, (escape) => BROWSER_ESCAPES[escape.toLowerCase()] ?? escape)

interface Part {
  readonly name: string
  readonly filename: string | undefined
  readonly mime: string
  readonly isBase64: boolean
  readonly bytes: Buffer
}

/** A part with a file name or a type other than text is a file. Tools add `text/plain` and JSON types to plain fields, too. */
const isFile = ({ filename, mime }: Part) =>
  filename !== undefined || (!mime.startsWith('text/') && mime !== 'application/json')

/** Returns undefined for a text that is not UTF-8. */
function toPartField(part: Part, base64: readonly string[]): BodyField | undefined {
  const { name, filename, mime, isBase64 } = part
  const bytes = isBase64 ? decodeBase64(part.bytes) : part.bytes
  if (isFile(part)) {
    if (bytes === undefined) return { kind: 'not-base64' }
    return { kind: 'bytes', bytes, mime, ...(filename !== undefined && { filename }) }
  }
  if (base64.includes(name)) return bytesOrNot(decodeBase64(part.bytes))
  const value = bytes === undefined ? undefined : decodeUtf8(bytes)
  return value === undefined ? undefined : { kind: 'text', value }
}

/** Parses `multipart/form-data` (RFC 7578): at most 32 parts, complete up to the closing delimiter. */
function parseMultipart(
  contentType: string,
  body: Buffer,
  base64: readonly string[],
): Promise<BodyFields | undefined> {
  const { promise, resolve } = Promise.withResolvers<BodyFields | undefined>()
  const fields: BodyFields = new Map()
  const refuse = () => resolve(undefined)
  try {
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: MULTIPART_LIMITS,
      preservePath: true,
      // Fields, too, come as their bytes: the parser would decode whatever is not UTF-8 to something else.
      isPartAFile: () => true,
    })
    parser.on('error', refuse).on('partsLimit', refuse)
    parser.on('finish', () => resolve(fields))
    parser.on(
      'file',
      (givenName: string | undefined, stream, givenFilename: string | undefined, encoding, mime) => {
        const name = unescapeName(givenName ?? REPLACEMENT)
        const filename = givenFilename === undefined ? undefined : unescapeName(givenFilename)
        if (!ENCODINGS.includes(encoding) || `${name}${filename}`.includes(REPLACEMENT)) refuse()
        const chunks: Buffer[] = []
        stream.on('error', refuse).on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          const [only] = chunks
          const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
          const field = toPartField({ name, filename, mime, isBase64: encoding === 'base64', bytes }, base64)
          if (field === undefined) refuse()
          else fields.set(name, field)
        })
      },
    )
    parser.end(body)
  } catch {
    // The type has no boundary.
    refuse()
  }
  return promise
}
