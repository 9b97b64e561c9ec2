import type { IncomingHttpHeaders } from 'node:http'

export const BAD_ENCODING =
  'El cuerpo de la solicitud debe venir sin comprimir, con Content-Encoding identity'

/**
 * Whether a body comes in an encoding that nobody undoes (RFC 9110, section 8.4): read as it is, it would be damaged data. A
 * request without a body may carry the header all the same.
 */
export function isEncoded(headers: IncomingHttpHeaders): boolean {
  if (!hasBody(headers)) return false
  const codings = `${headers['transfer-encoding'] ?? ''},${headers['content-encoding'] ?? ''}`.split(',')
  return codings.some((coding) => !['', 'identity', 'chunked'].includes(coding.trim().toLowerCase()))
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
