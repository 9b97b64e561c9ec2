import { Busboy } from '@fastify/busboy'
import { decodeBase64 } from '../../lib/base64.ts'
import { decodeUtf8 } from '../../lib/text.ts'
import { bytesOrNot, UNPARSABLE } from './fields.ts'
import type { BodyField, BodyFields, BodyOptions, ParsedBody } from './fields.ts'

/** No endpoint accepts more than a few parts. */
const LIMITS = { parts: 32, headerPairs: 16, headerSize: 8_192 }
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
function toField(part: Part, { base64 = [] }: BodyOptions): BodyField | undefined {
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
export function parseMultipart(contentType: string, body: Buffer, options: BodyOptions): Promise<ParsedBody> {
  const { promise, resolve } = Promise.withResolvers<ParsedBody>()
  const fields: BodyFields = new Map()
  const refuse = () => resolve(UNPARSABLE)
  try {
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: LIMITS,
      preservePath: true,
      // Fields, too, come as their bytes: the parser would decode whatever is not UTF-8 to something else.
      isPartAFile: () => true,
    })
    parser.on('error', refuse).on('partsLimit', refuse)
    parser.on('finish', () => resolve({ ok: true, fields }))
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
          const field = toField({ name, filename, mime, isBase64: encoding === 'base64', bytes }, options)
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
