/** `type/subtype` of a Content-Type, lower-case; `''` for an empty one. */
export function mediaType(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

export type HeaderParameters = Map<string, string>

// WHATWG HTML, "multipart/form-data encoding algorithm": what a browser does to these three in a quoted name.
const browserEscapes: Record<string, string> = { '%22': '"', '%0d': '\r', '%0a': '\n' }

function unescapeQuoted(text: string): string {
  const plain = text.includes('\\"') ? text.replaceAll('\\"', '"') : text
  if (!plain.includes('%')) return plain
  return plain.replace(/%(?:22|0d|0a)/gi, (escape) => browserEscapes[escape.toLowerCase()] ?? escape)
}

/**
 * Where the quoted text that begins at `start` ends. Browsers escape a quote as `%22` and leave backslashes alone, so
 * `"C:\"` is whole; others write `\"`. A quote after a backslash closes only where the parameter can end.
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

/** RFC 5987 `UTF-8'lang'percent-encoded`; `undefined` in another charset or malformed. */
function extendedValue(value: string): string | undefined {
  const match = /^utf-8'[^']*'(.*)$/is.exec(value)
  try {
    return match?.[1] === undefined ? undefined : decodeURIComponent(match[1])
  } catch {
    return undefined
  }
}

/**
 * The parameters after the first `;` of a header, names in lower-case; of a repeated one the first (as in HTTP's own
 * parsers). `name*=` (RFC 5987) wins over `name=`. `undefined` where the header is malformed.
 */
export function headerParameters(header: string): HeaderParameters | undefined {
  const parameters: HeaderParameters = new Map()
  const extended: HeaderParameters = new Map()
  let at = header.indexOf(';')
  while (at !== -1 && at < header.length) {
    const equals = header.indexOf('=', at)
    // A last `;` with nothing behind it is harmless.
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
