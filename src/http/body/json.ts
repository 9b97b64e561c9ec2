import { isUtf8 } from 'node:buffer'
import { decodeBase64 } from '../../lib/base64.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { bytesOrNot, UNPARSABLE } from './fields.ts'
import type { BodyField, BodyOptions, ParsedBody } from './fields.ts'

/**
 * Deepest nesting accepted. V8 parses any depth, but needs 50 bytes of memory per byte of `[[[[…` (1.3 GB for a body of 27 MB), and
 * recursive code that later visits such a value overflows the stack.
 */
const MAX_DEPTH = 512

const QUOTE = 0x22
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const BYTE_ORDER_MARK = '\ufeff'

/** Parses untrusted JSON. Returns undefined if the text is not JSON, or nested deeper than 512. */
export function parseJsonText(text: string): unknown {
  return isTooDeep(text) ? undefined : parseJson(text)
}

/**
 * Parses `application/json` in UTF-8, with or without a byte order mark (RFC 8259, section 8.1), nested at most 512 deep. JSON other
 * than an object has no fields.
 */
export function parseJsonBody(body: Buffer, { base64 = [] }: BodyOptions): ParsedBody {
  if (!isUtf8(body)) return UNPARSABLE
  const text = body.toString()
  const parsed = parseJsonText(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
  if (parsed === undefined) return UNPARSABLE
  const entries = isObject(parsed) ? Object.entries(parsed) : []
  const fields = entries.map(([name, value]): [string, BodyField] => [
    name,
    toField(value, base64.includes(name)),
  ])
  return { ok: true, fields: new Map(fields) }
}

function toField(value: unknown, isBase64: boolean): BodyField {
  if (typeof value !== 'string') return { kind: 'json', value }
  return isBase64 ? bytesOrNot(decodeBase64(value)) : { kind: 'text', value }
}

/** What else is wrong is left to `JSON.parse`. */
function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = stringEnd(text, at + 1)
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return true
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--
  }
  return false
}

/** Returns the index of the closing quote of a string whose contents start at `at`. */
function stringEnd(text: string, at: number): number {
  for (; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) break
    if (character === BACKSLASH) at++
  }
  return at
}
