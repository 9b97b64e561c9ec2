import { isUtf8 } from 'node:buffer'
import { dataPrefixLength, decodeBase64, decodeCompactBase64 } from '../../lib/base64.ts'
import { replaceOctets } from '../../lib/text.ts'
import { bytesOrNot, unparsable } from './fields.ts'
import type { BodyField, BodyFields, BodyOptions, ParsedBody } from './fields.ts'
import { scanJson } from './json-scan.ts'
import type { StringSlice } from './json-scan.ts'

/**
 * V8 parses any depth, but takes 50 octets of memory for each octet of `[[[[…` (1.3 GB for a body of 27 MB), and whatever
 * later walks such a value by recursion overflows its stack.
 */
const maxDepth = 512

const backslash = 0x5c
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * The bytes of a string taken straight from the body. Only where its text is base64 without anything else: that proves
 * that it has no control character, so that the JSON is valid with it exactly if it is with an empty string instead.
 * One escape is read here: `\/`, as PHP writes every slash. After it is replaced, a backslash of any other fails.
 */
function decodeSlice(bytes: Buffer, { start, end, escapes }: StringSlice): Buffer | undefined {
  const content = bytes.subarray(start, end)
  const text = escapes ? replaceOctets(content, /\\\//g, '/', backslash) : content
  const prefix = dataPrefixLength(text)
  for (const octet of text.subarray(0, prefix)) if (octet < 0x20 || octet === backslash) return undefined
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

/** JSON.parse for text from outside: faults as values, nested at most 512 deep. */
export function parseJsonText(text: string): JsonOutcome {
  return scanJson(Buffer.from(text), [], maxDepth) === undefined ? { ok: false } : parseJson(text)
}

type JsonOutcome = { ok: true; value: unknown } | { ok: false }

function parseJson(text: string): JsonOutcome {
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false }
  }
}

/**
 * `application/json` in UTF-8, a byte order mark tolerated (RFC 8259 section 8.1), nested at most 512 deep. A text that
 * is no object has no fields. The outcome is that of JSON.parse; the large base64 strings merely do not pass through it.
 */
export function parseJsonBody(body: Buffer, options: BodyOptions): ParsedBody {
  const bytes = body.subarray(0, 3).equals(byteOrderMark) ? body.subarray(3) : body
  if (!isUtf8(bytes)) return unparsable
  const wanted = options.base64 ?? []
  const slices = scanJson(bytes, wanted, maxDepth)
  if (slices === undefined) return unparsable

  const decoded = new Map<string, Buffer>()
  const cuts: StringSlice[] = []
  for (const [name, slice] of slices) {
    const content = decodeSlice(bytes, slice)
    if (content === undefined) continue
    decoded.set(name, content)
    cuts.push(slice)
  }
  const parsed = parseJson(withEmptyStrings(bytes, cuts))
  if (!parsed.ok) return unparsable

  const fields: BodyFields = new Map()
  if (typeof parsed.value !== 'object' || parsed.value === null || Array.isArray(parsed.value))
    return { ok: true, fields }
  const entries: [string, unknown][] = Object.entries(parsed.value)
  for (const [name, value] of entries) {
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
