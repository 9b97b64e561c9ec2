import type { IncomingHttpHeaders } from 'node:http'

/** Returns `type/subtype` of a Content-Type in lower case; `''` for an empty one. */
export function mediaType(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

export type HeaderParameters = Map<string, string>

// How browsers escape these three characters in a quoted name (WHATWG HTML, "multipart/form-data encoding algorithm").
const browserEscapes: Record<string, string> = { '%22': '"', '%0d': '\r', '%0a': '\n' }

function unescapeQuoted(text: string): string {
  const plain = text.includes('\\"') ? text.replaceAll('\\"', '"') : text
  if (!plain.includes('%')) return plain
  return plain.replace(/%(?:22|0d|0a)/gi, (escape) => browserEscapes[escape.toLowerCase()] ?? escape)
}

/**
 * Returns the index of the closing quote of a string that starts at `start`, or -1. Browsers escape quotes as `%22` and do not
 * escape backslashes, so `"C:\"` is complete; other clients write `\"`. A quote after a backslash closes the string only where the
 * parameter can end.
 */
function quotedEnd(header: string, start: number): number {
  for (let at = header.indexOf('"', start); at !== -1; at = header.indexOf('"', at + 1)) {
    if (header[at - 1] !== '\\') return at
    let after = at + 1
    while (header[after] === ' ' || header[after] === '\t') after++
    if (after >= header.length || header[after] === ';') return at
  }
  return -1
}

/** Decodes `UTF-8'lang'percent-encoded` (RFC 5987); undefined if it is malformed or in another charset. */
function extendedValue(value: string): string | undefined {
  const match = /^utf-8'[^']*'(.*)$/is.exec(value)
  try {
    return match?.[1] === undefined ? undefined : decodeURIComponent(match[1])
  } catch {
    return undefined
  }
}

/**
 * Parses the parameters after the first `;` of a header. Names are in lower case; of a repeated name the first value counts.
 * `name*=` (RFC 5987) takes precedence over `name=`. Returns undefined if the header is malformed.
 */
export function headerParameters(header: string): HeaderParameters | undefined {
  const parameters: HeaderParameters = new Map()
  const extended: HeaderParameters = new Map()
  let at = header.indexOf(';')
  while (at !== -1 && at < header.length) {
    const equals = header.indexOf('=', at)
    // A trailing `;` is harmless.
    if (equals === -1) {
      if (header.slice(at + 1).trim() !== '') return undefined
      break
    }
    const name = header
      .slice(at + 1, equals)
      .trim()
      .toLowerCase()
    let start = equals + 1
    while (header[start] === ' ' || header[start] === '\t') start++
    const quoted = header[start] === '"'
    let end = quoted ? quotedEnd(header, start + 1) : header.indexOf(';', start)
    if (quoted && end === -1) return undefined
    if (end === -1) end = header.length
    const value = quoted ? unescapeQuoted(header.slice(start + 1, end)) : header.slice(start, end).trim()
    at = quoted ? end + 1 : end
    if (quoted) {
      while (header[at] === ' ' || header[at] === '\t') at++
      if (at < header.length && header[at] !== ';') return undefined
    }
    if (!name.endsWith('*')) {
      if (!parameters.has(name)) parameters.set(name, value)
      continue
    }
    const decoded = extendedValue(value)
    if (decoded !== undefined) extended.set(name.slice(0, -1), decoded)
  }
  for (const [name, value] of extended) parameters.set(name, value)
  return parameters
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
