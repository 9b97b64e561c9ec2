import { isUtf8 } from 'node:buffer'
import { dataPrefixLength, decodeBase64, decodeCompactBase64 } from '../../lib/base64.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { replaceBytes } from '../../lib/text.ts'
import { bytesOrNot, UNPARSABLE } from './fields.ts'
import type { BodyField, BodyFields, BodyOptions, ParsedBody } from './fields.ts'

/**
 * Deepest nesting accepted. V8 parses any depth, but needs 50 bytes of memory per byte of `[[[[…` (1.3 GB for a body of 27 MB), and
 * recursive code that later visits such a value overflows the stack.
 */
const MAX_DEPTH = 512

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Bytes compared one by one before the native search, which costs about 100 ns per call. */
const NEAR_BYTES = 64

/** The position of a string's contents, without its quotes. */
interface StringSlice {
  readonly start: number
  readonly end: number
  readonly escapes: boolean
}

/**
 * Decodes a base64 string directly from the body. Returns undefined unless its text is base64 and nothing else: then it has no
 * control characters, so the JSON is valid if and only if it is valid with an empty string instead. The only escape that is
 * decoded is `\/`, because PHP escapes every slash.
 */
function decodeSlice(bytes: Buffer, { start, end, escapes }: StringSlice): Buffer | undefined {
  const content = bytes.subarray(start, end)
  const text = escapes ? replaceBytes(content, /\\\//g, '/', BACKSLASH) : content
  const prefix = dataPrefixLength(text)
  for (const byte of text.subarray(0, prefix)) if (byte < 0x20 || byte === BACKSLASH) return undefined
  return decodeCompactBase64(text.subarray(prefix))
}

function withEmptyStrings(bytes: Buffer, cuts: StringSlice[]): string {
  let text = ''
  let from = 0
  for (const { start, end } of cuts.toSorted((a, b) => a.start - b.start)) {
    text += bytes.toString('utf8', from, start)
    from = end
  }
  return text + bytes.toString('utf8', from)
}

/** Parses untrusted JSON. Returns undefined if the text is not JSON, or nested deeper than 512. */
export function parseJsonText(text: string): unknown {
  return scanJson(Buffer.from(text), []) === undefined ? undefined : parseJson(text)
}

/**
 * Parses `application/json` in UTF-8, with or without a byte order mark (RFC 8259, section 8.1), nested at most 512 deep. JSON other
 * than an object has no fields. The result is that of `JSON.parse`, but large base64 strings bypass it.
 */
export function parseJsonBody(body: Buffer, options: BodyOptions): ParsedBody {
  const bytes = body.subarray(0, 3).equals(BYTE_ORDER_MARK) ? body.subarray(3) : body
  if (!isUtf8(bytes)) return UNPARSABLE
  const wanted = options.base64 ?? []
  const slices = scanJson(bytes, wanted)
  if (slices === undefined) return UNPARSABLE

  const decoded = new Map<string, Buffer>()
  const cuts: StringSlice[] = []
  for (const [name, slice] of slices) {
    const content = decodeSlice(bytes, slice)
    if (content === undefined) continue
    decoded.set(name, content)
    cuts.push(slice)
  }
  const parsed = parseJson(withEmptyStrings(bytes, cuts))
  if (parsed === undefined) return UNPARSABLE

  const fields: BodyFields = new Map()
  if (!isObject(parsed)) return { ok: true, fields }
  for (const [name, value] of Object.entries(parsed)) {
    const bytesOfName = decoded.get(name)
    fields.set(
      name,
      bytesOfName === undefined ? toField(value, wanted.includes(name)) : bytesOrNot(bytesOfName),
    )
  }
  return { ok: true, fields }
}

function toField(value: unknown, isBase64: boolean): BodyField {
  if (typeof value !== 'string') return { kind: 'json', value }
  return isBase64 ? bytesOrNot(decodeBase64(value)) : { kind: 'text', value }
}

/**
 * Returns the index of the closing quote of the string whose contents start at `start`, as `-1 - index` if it has escapes: a body
 * may hold a million strings, too many for a result object each. Returns `bytes.length` if the string is not terminated.
 */
function stringEnd(bytes: Buffer, start: number): number {
  let escapes = false
  let reach = NEAR_BYTES
  // Invariant: `at` is never between a backslash and what it escapes.
  for (let at = start; at < bytes.length;) {
    const near = Math.min(at + reach, bytes.length)
    while (at < near) {
      const byte = bytes[at]
      if (byte === QUOTE) return escapes ? -1 - at : at
      if (byte === BACKSLASH) {
        escapes = true
        at++
      }
      at++
    }
    const end = bytes.indexOf(QUOTE, at)
    if (end === -1) break
    let run = end
    while (run > at && bytes[run - 1] === BACKSLASH) run--
    if ((end - run) % 2 === 0) return escapes || bytes.subarray(at, end).includes(BACKSLASH) ? -1 - end : end
    // JSON within JSON has an escaped quote every few bytes, where the native search is slower.
    escapes = true
    reach *= 4
    at = end + 1
  }
  return bytes.length
}

/**
 * Finds the last value of each member of the top-level object that is named in `wanted`, if that value is a string. Strings are
 * delimited exactly as a parser does; the rest is not validated, which is left to `JSON.parse`. Returns undefined if a string is
 * not terminated, or the text is nested deeper than `MAX_DEPTH`.
 */
function scanJson(bytes: Buffer, wanted: readonly string[]): Map<string, StringSlice> | undefined {
  const slices = new Map<string, StringSlice>()
  let depth = 0
  let name: string | undefined
  let isValue = false
  let escapedNames = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
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
      // A repeated name replaces its earlier value, whatever type the new one has.
      if (name !== undefined) slices.delete(name)
      escapedNames ||= escapes
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return undefined
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--
    else if (depth === 1 && byte === COLON) isValue = true
    else if (depth === 1 && byte === COMMA) isValue = false
  }
  // A name with escapes may be another spelling of a wanted one, so it is unknown which value is the last.
  return escapedNames ? new Map() : slices
}
