import type { IncomingHttpHeaders } from 'node:http'

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
