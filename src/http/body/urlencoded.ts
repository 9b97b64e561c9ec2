import { isUtf8 } from 'node:buffer'
import { decodeBase64 } from '../../lib/base64.ts'
import { bytesOrNot, UNPARSABLE } from './fields.ts'
import type { BodyField, BodyFields, BodyOptions, ParsedBody } from './fields.ts'

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
export function parseUrlencoded(body: Buffer, { base64 = [] }: BodyOptions): ParsedBody {
  if (!isUtf8(body)) return UNPARSABLE
  const pairs = body
    .toString()
    .split('&', MAX_PAIRS + 1)
    .filter((pair) => pair !== '')
  if (pairs.length > MAX_PAIRS) return UNPARSABLE
  const last = new Map<string, string>()
  for (const pair of pairs) {
    const cut = pair.indexOf('=')
    const name = decodeText(cut === -1 ? pair : pair.slice(0, cut))
    if (name === undefined) return UNPARSABLE
    last.set(name, cut === -1 ? '' : pair.slice(cut + 1))
  }
  const fields: BodyFields = new Map()
  for (const [name, raw] of last) {
    if (base64.includes(name)) {
      fields.set(name, base64Field(raw))
      continue
    }
    const value = decodeText(raw)
    if (value === undefined) return UNPARSABLE
    fields.set(name, { kind: 'text', value })
  }
  return { ok: true, fields }
}
